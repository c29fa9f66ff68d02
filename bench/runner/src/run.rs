//! Performs a run, from its options to its `run.toml`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use jiff::Timestamp;

use crate::conclusion;
use crate::files::{remove, replace};
use crate::history::History;
use crate::host::check::check;
use crate::host::root::Root;
use crate::host::{facts, identity};
use crate::implementations::{Lock, is_there, prepare};
use crate::journal::{Journal, RECORDS};
use crate::manifest::{RawFile, RunCounter, RunWarning, SuiteReference};
use crate::medians::rows;
use crate::plan::{Order, plan, to_the_second, versioned};
use crate::progress::Progress;
use crate::replay::Replay;
use crate::resume::{same_order, same_run};
use crate::session::Session;
use crate::snapshot::{begin, wait};
use crate::suite::{Suite, SuiteFile};
use crate::warnings;
use crate::words::{say, show, warn};

/// Format name of a build's Cargo.lock, which contains no measurements.
const CARGO_LOCK: &str = "cargo-lock";

/// Checks, before anything is built, that what the folder of a run holds was begun by this order.
/// Returns how the run refers to the suite, and its counter.
pub fn check_order(
    order: &Order,
    file: &SuiteFile,
) -> Result<(SuiteReference, Option<RunCounter>)> {
    let reference = SuiteReference {
        name: file.suite.name.clone(),
        family: file.suite.family.clone(),
        sha256: Some(file.sha256.clone()),
    };
    let counter = order.options.counter.map(versioned).transpose()?;
    let begun = ["run.toml", "run.partial.toml"].map(|it| order.out.join(it));
    for begun in begun.iter().filter(|it| it.exists()) {
        same_order(begun, &order.command, counter.as_ref(), &reference)?;
    }
    Ok((reference, counter))
}

/// A warning for each build whose mask hides nothing that this processor has.
pub fn masks_without_effect(suite: &Suite, features: &[String]) -> Vec<RunWarning> {
    let in_vain = suite.builds().filter_map(|build| {
        let masked = build.masked_in_vain(features)?;
        Some(warnings::mask_without_effect(&build.name(), &masked))
    });
    in_vain.collect()
}

/// Starts or resumes a run. Returns the path of run.toml, or of run.partial.toml if there are
/// sessions left.
pub fn run(order: &Order, root: &Root) -> Result<PathBuf> {
    let finished = order.out.join("run.toml");
    let partial = order.out.join("run.partial.toml");
    let facts = facts::capture(root);
    let file = order.read(facts.cores)?;
    let (reference, counter) = check_order(order, &file)?;
    let mut suite = file.suite;
    let is_finished = finished.exists();
    if is_finished {
        // A complete run makes no builds: a new program would not be the measured one.
        for listed in &suite.implementations {
            ensure!(
                is_there(listed, &order.places, suite.layouts)?,
                "{}: the run is complete, and {listed} is not the build that it measured; begin \
                 another run with another --out",
                finished.display()
            );
        }
    }
    let ready = prepare(&mut suite, &order.places)?;
    let host = identity::identified(
        facts,
        order.options.host.as_deref(),
        identity::KNOWN_HOSTS.as_ref(),
    )?;
    let checks = check(&host, root);
    let changes = identity::changed_since_known(&host, identity::KNOWN_HOSTS.as_ref())?;
    let masks = masks_without_effect(&suite, &host.features);
    let mut run = plan(order, reference, counter, &ready, host, checks)?;
    if !changes.is_empty() {
        let before = format!("{}/{}.toml", identity::KNOWN_HOSTS, run.host_id);
        run.warnings.push(warnings::changed_host(&before, &changes));
    }
    run.warnings.extend(masks);

    if is_finished {
        same_run(&finished, &run)?;
        // A kill between the last two steps of a run leaves its plan behind.
        remove(&partial)?;
        say(&format!(
            "{} is complete: nothing to do",
            order.out.display()
        ));
        return Ok(finished);
    }
    let raw = order.out.join("raw");
    std::fs::create_dir_all(&raw).with_context(|| raw.display().to_string())?;
    let (journal, records) = Journal::open(&order.out.join(RECORDS))?;
    if partial.exists() {
        run = same_run(&partial, &run)?;
        let programs = ready.programs.iter();
        let ids: Vec<_> = programs.map(|it| it.implementation.id.as_str()).collect();
        let begun = Replay {
            suite: &suite,
            sessions: &run.sessions,
            ids: &ids,
            counter: order.options.counter,
        };
        begun.check(&records).map_err(|(index, what)| {
            let path = order.out.join(RECORDS);
            anyhow!(
                "{}:{}: found {what}: the records were changed; begin another run with another \
                 --out",
                path.display(),
                index + 1
            )
        })?;
    } else {
        ensure!(
            records.is_empty(),
            "{} holds records, but there is no {}: expected the folder of one run",
            raw.display(),
            partial.display()
        );
        run.host = run.host.map(facts::with_compilers);
        run.write(&partial)?;
    }
    let mut session = Session {
        number: 1,
        layout: 0,
        suite: &suite,
        programs: &ready.programs,
        root,
        seed: run.seed.context("run.partial.toml has no seed")?,
        until_precise: order.options.until_precise,
        counter: order.options.counter,
        journal,
        history: History::of(&records),
        progress: Progress::new(),
        disk_was_full: false,
        stepped: None,
    };
    for number in 1..=suite.sessions {
        let begun = run.sessions.iter().find(|it| it.number == number);
        if let Some(begun) = begun.filter(|it| it.finished.is_some()) {
            let found = session.history.counted_in(number);
            ensure!(
                begun.rounds.is_none_or(|rounds| rounds == found),
                "{}: found {found} rounds of session {number}, expected {}: the records were \
                 changed; begin another run with another --out",
                order.out.join(RECORDS).display(),
                begun.rounds.unwrap_or_default()
            );
            continue;
        }
        if begun.is_none() {
            wait(&run, order.options.apart.unwrap_or_default(), number)?;
        }
        let layout = (number - 1) % suite.layouts;
        begin(&mut run, number, layout, root)?;
        run.write(&partial)?;
        let begun = run.sessions.last_mut().context("no session was begun")?;
        (session.number, session.layout, session.seed) = (number, layout, begun.seed);
        session.programs = ready.linked(layout);
        session.measure()?;
        begun.finished = Some(to_the_second(Timestamp::now())?);
        begun.rounds = Some(session.history.counted_in(number));
        run.write(&partial)?;
        if order.options.one_session && number < suite.sessions {
            return Ok(partial);
        }
    }

    let mut medians = Vec::new();
    if let Some(target) = session.until_precise {
        medians = rows(&session.journal.records()?);
        for line in conclusion::precision(&medians, target) {
            show(format!("{line}\n"));
        }
    }
    run.warnings
        .extend(conclusion::warnings(&session, &medians));
    run.rounds = Some(session.history.counted());
    run.finished = to_the_second(Timestamp::now()).ok();
    run.complete = true;
    let records = RawFile::read(&order.out, RECORDS, "tlsbench/1", None)?;
    session.journal.verify()?;
    run.files = vec![records];
    for lock in ready.locks {
        run.files.push(kept(lock, &order.out)?);
    }
    run.write(&finished)?;
    remove(&partial)?;
    for warning in &run.warnings {
        warn(&warning.message);
    }
    Ok(finished)
}

/// Copies the Cargo.lock of a build into the folder of the run.
fn kept(lock: Lock, folder: &Path) -> Result<RawFile> {
    let path = format!("raw/builds/{}.lock", lock.name);
    let bytes = std::fs::read(&lock.path).with_context(|| lock.path.display().to_string())?;
    std::fs::create_dir_all(folder.join("raw/builds"))?;
    replace(&folder.join(&path), &bytes)?;
    RawFile::read(folder, &path, CARGO_LOCK, Some(lock.implementation))
}
