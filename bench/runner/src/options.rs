//! The options of a run, as the command line has them and as the run records them.

use std::time::Duration;

use clap::builder::RangedI64ValueParser;
use jiff::SignedDuration;
use tls_harness::request::Counter;

use crate::host::identity::given;
use crate::selection::Selection;
use crate::suite::MOST;

/// The longest time between two sessions: thirty days.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub selection: Selection,
    /// Id of this host [default: the id in data/hosts if the host is described there, or an id made
    /// from its facts]
    #[arg(long, value_name = "ID", value_parser = given)]
    pub host: Option<String>,
    /// Number of rounds in each session, instead of the suite's
    #[arg(long, value_name = "N", value_parser = number())]
    pub rounds: Option<u32>,
    /// Number of sessions, instead of the suite's. A stopped run resumes in the session in which it
    /// stopped
    #[arg(long, value_name = "N", value_parser = number())]
    pub sessions: Option<u32>,
    /// Time from the end of a session to the start of the next, such as 30m
    #[arg(long, value_name = "TIME", value_parser = apart)]
    pub apart: Option<Duration>,
    /// Measure one session, then exit; the same command measures the next session. In this way the
    /// sessions of several suites can alternate
    #[arg(long, conflicts_with = "apart")]
    pub one_session: bool,
    /// Number of layouts in which each program is linked, instead of the suite's. The first is the
    /// linker's own order, the others are behind padding. Each session uses the next layout; after
    /// the last layout comes the first
    #[arg(long, value_name = "N", value_parser = number())]
    pub layouts: Option<u32>,
    /// Measure until the 95% interval of every median has at most this half-width, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub until_precise: Option<f64>,
    /// Count instead of measuring time, in 6 rounds unless --rounds is given: instructions under
    /// Valgrind (callgrind), allocations, locks and calls into the kernel (calls), or bytes, records
    /// and calls of the transport (wire)
    #[arg(long, value_name = "COUNTER", value_parser = counter, conflicts_with = "until_precise")]
    pub counter: Option<Counter>,
}

impl Options {
    /// The options that are not at their defaults, each preceded by a space; unchanged when a run
    /// resumes. The sessions of a run that measures one at a time are those of any other.
    pub fn arguments(&self) -> String {
        let mut arguments = self.selection.arguments();
        let mut add = |name: &str, value: Option<String>| {
            arguments.extend(value.map(|value| format!(" --{name} {value}")));
        };
        add("host", self.host.clone());
        add("rounds", self.rounds.map(|it| it.to_string()));
        add("sessions", self.sessions.map(|it| it.to_string()));
        add("apart", self.apart.map(|it| format!("{}s", it.as_secs())));
        add("layouts", self.layouts.map(|it| it.to_string()));
        add("counter", self.counter.map(|it| it.as_str().to_owned()));
        let share = self.until_precise;
        add("until-precise", share.map(|it| format!("{}%", it * 100.0)));
        arguments
    }
}

/// A number of rounds, sessions or layouts.
pub fn number() -> RangedI64ValueParser<u32> {
    RangedI64ValueParser::new().range(1..=i64::from(MOST))
}

/// A time such as `90s`, `30m` or `2h`.
fn apart(text: &str) -> Result<Duration, String> {
    let time = text.parse::<SignedDuration>().ok();
    time.and_then(|time| Duration::try_from(time).ok())
        .filter(|time| *time <= LONGEST)
        .ok_or_else(|| "expected a time such as 30m, at most 720h".to_owned())
}

/// The name of a counter.
fn counter(text: &str) -> Result<Counter, String> {
    let found = Counter::ALL.into_iter().find(|it| it.as_str() == text);
    found.ok_or_else(|| {
        format!(
            "expected {}",
            Counter::ALL.map(Counter::as_str).join(" or ")
        )
    })
}

/// A percentage such as `1%` or `0.5%`, as a share.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .map(str::trim)
        .and_then(|text| text.parse::<f64>().ok());
    match number {
        Some(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage such as 1%".to_owned()),
    }
}
