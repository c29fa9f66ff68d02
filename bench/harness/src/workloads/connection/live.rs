//! One connection over a socket, from the first flight to the close of both sides.

use anyhow::{Error, Result, ensure};

use crate::{
    library::{Connection, Progress},
    scenario::Side,
    session::Expected,
    transport::Endpoint,
};

/// The byte that a client sends, and that the server sends back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// One of many.
    Plain,
    /// The connections that are measured begin after this one.
    Start,
    /// This is the last connection.
    Stop,
}

const MARKS: [Mark; 3] = [Mark::Plain, Mark::Start, Mark::Stop];

#[derive(Clone, Copy)]
enum Step {
    Handshake,
    Tickets,
    Send,
    Receive,
    Close,
}

/// What all connections of a process must be.
pub struct Terms<'a> {
    pub side: Side,
    /// Absent with the no-op library, whose results are not checked.
    pub expected: Option<&'a Expected>,
    pub awaits_tickets: bool,
    /// What the client sends instead of a byte, to a server of HTTP.
    pub request: Option<&'static [u8]>,
}

/// A connection with its place in the sequence.
pub struct Live<C> {
    connection: C,
    step: Step,
    /// The client's byte: sent, or to be received.
    mark: Mark,
    /// Whether it must be a resumption, if that is known.
    resumed: Option<bool>,
}

impl<C: Connection> Live<C> {
    pub fn new(connection: C, mark: Mark, resumed: Option<bool>) -> Self {
        Self {
            connection,
            step: Step::Handshake,
            mark,
            resumed,
        }
    }

    /// Goes on until it waits for its peer (`None`), or is closed: then it returns the mark.
    pub fn advance(
        &mut self,
        terms: &Terms<'_>,
        endpoint: &Endpoint,
        readable: bool,
    ) -> Result<Option<Mark>> {
        let socket = endpoint.as_socket()?;
        socket.prepare(readable);
        loop {
            let waits = match self.turn(terms) {
                Ok(Progress::Done) if matches!(self.step, Step::Close) => {
                    return Ok(Some(self.mark));
                }
                Ok(Progress::Done) => {
                    socket.is_starved()?;
                    let next = self.next(terms);
                    self.step = next;
                    // Tickets come in a flight of their own.
                    matches!(next, Step::Tickets)
                }
                Ok(Progress::Waiting) => {
                    socket.is_starved()?;
                    true
                }
                Err(error) => match socket.is_starved() {
                    Ok(true) if matches!(self.step, Step::Receive) => true,
                    Ok(_) => return Err(error),
                    Err(failure) => return Err(failure.context(error)),
                },
            };
            if waits {
                return Ok(None);
            }
            socket.prepare(false);
        }
    }

    fn turn(&mut self, terms: &Terms<'_>) -> Result<Progress> {
        let connection = &mut self.connection;
        match self.step {
            Step::Handshake => return connection.handshake(),
            Step::Tickets => connection.receive_tickets()?,
            Step::Send => {
                self.check(terms)?;
                let byte = [self.mark as u8];
                self.connection.send(terms.request.unwrap_or(&byte))?;
            }
            Step::Receive if terms.request.is_some() => {
                let mut answer = [0; 1024];
                let length = connection.receive(&mut answer)?;
                let first = answer[..length].split(|it| *it == b'\r').next();
                let first = String::from_utf8_lossy(first.unwrap_or_default());
                ensure!(
                    first.ends_with(" 204 No Content"),
                    "the server answered {first:?}, expected 204 No Content"
                );
                // Tickets would have come before the answer.
                self.check(terms)?;
            }
            Step::Receive => {
                let mut byte = [0];
                connection.receive(&mut byte)?;
                let found = MARKS.get(usize::from(byte[0]));
                let found = found.ok_or_else(|| Error::msg(unexpected(byte[0])))?;
                ensure!(
                    terms.side == Side::Server || *found == self.mark,
                    unexpected(byte[0])
                );
                self.mark = *found;
            }
            Step::Close => return connection.close(),
        }
        Ok(Progress::Done)
    }

    fn next(&self, terms: &Terms<'_>) -> Step {
        match (self.step, terms.side) {
            (Step::Handshake, Side::Client) if terms.awaits_tickets => Step::Tickets,
            (Step::Handshake | Step::Tickets, Side::Client) => Step::Send,
            (Step::Send, Side::Client) => Step::Receive,
            (Step::Handshake | Step::Tickets, _) => Step::Receive,
            (Step::Receive, Side::Server) => Step::Send,
            (Step::Send | Step::Receive | Step::Close, _) => Step::Close,
        }
    }

    fn check(&self, terms: &Terms<'_>) -> Result<()> {
        match (terms.expected, terms.side, self.resumed) {
            (Some(expected), Side::Client, Some(resumed)) => {
                expected.check_client(&self.connection, resumed)
            }
            (Some(expected), _, resumed) => expected.check_server(&self.connection, resumed),
            (None, ..) => Ok(()),
        }
    }
}

fn unexpected(byte: u8) -> String {
    format!("the peer sent the byte {byte}, expected the client's")
}
