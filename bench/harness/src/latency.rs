//! Times of individual handshakes, recorded in a histogram.

use std::time::Duration;

use anyhow::Result;
use base64::{Engine, prelude::BASE64_STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2Serializer},
};

use crate::record::{Metric, Observation, Phase, Statistic, Unit};

/// The published percentiles; the 100th is the maximum.
const PERCENTILES: [(f64, Statistic); 6] = [
    (5.0, Statistic::P5),
    (50.0, Statistic::P50),
    (90.0, Statistic::P90),
    (99.0, Statistic::P99),
    (99.9, Statistic::P999),
    (100.0, Statistic::Max),
];

/// The longest time for which a library did not return to its caller, in one handshake.
const STALL: Metric = Metric::new("stall");

/// An HDR histogram of nanoseconds with 3 significant digits.
#[derive(Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// Creates a histogram that holds times up to a minute without resizing.
    pub fn new() -> Result<Self> {
        Ok(Self(Histogram::new_with_bounds(1, 60_000_000_000, 3)?))
    }

    pub fn add(&mut self, time: Duration) -> Result<()> {
        Ok(self.0.record(u64::try_from(time.as_nanos())?)?)
    }

    /// Merges histograms; `None` if there are none.
    pub fn merged<'a>(all: impl Iterator<Item = &'a Self>) -> Result<Option<Self>> {
        let mut merged: Option<Self> = None;
        for one in all {
            match &mut merged {
                None => merged = Some(Self(one.0.clone())),
                Some(sum) => sum.0.add(&one.0)?,
            }
        }
        Ok(merged)
    }

    /// The published percentiles, in microseconds.
    pub fn observations(&self) -> impl Iterator<Item = Observation> {
        let all = PERCENTILES.into_iter();
        all.map(|(percentile, statistic)| self.at(Metric::DURATION, percentile, statistic))
    }

    /// Of the longest call of each handshake: the median, the 99th percentile and the maximum.
    pub fn stalls(&self) -> impl Iterator<Item = Observation> {
        let published = [Statistic::P50, Statistic::P99, Statistic::Max];
        let all = PERCENTILES.into_iter();
        all.filter(move |(_, statistic)| published.contains(statistic))
            .map(|(percentile, statistic)| self.at(STALL, percentile, statistic))
    }

    fn at(&self, metric: Metric, percentile: f64, statistic: Statistic) -> Observation {
        Observation {
            phase: Phase::Total,
            metric,
            statistic,
            value: self.0.value_at_percentile(percentile) as f64 / 1e3,
            unit: Unit::MICROSECONDS,
        }
    }

    /// Encodes the histogram in the format HdrHistogram V2, as base64.
    pub fn encode(&self) -> Result<String> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.0, &mut bytes)?;
        Ok(BASE64_STANDARD.encode(bytes))
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    fn of(microseconds: impl Iterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::new().unwrap();
        for time in microseconds {
            latencies.add(Duration::from_micros(time)).unwrap();
        }
        latencies
    }

    #[test]
    fn percentiles_are_within_three_digits() {
        let values: Vec<f64> = of(1..=1000).observations().map(|it| it.value).collect();
        for (value, expected) in values
            .iter()
            .zip([50.0, 500.0, 900.0, 990.0, 999.0, 1000.0])
        {
            assert!(
                (value / expected - 1.0).abs() < 2e-3,
                "{value} for {expected}"
            );
        }
    }

    #[test]
    fn merged_histograms_contain_the_times_of_all_threads() {
        let (one, other) = (of(1..=10), of(100..=110));
        let merged = Latencies::merged([&one, &other].into_iter())
            .unwrap()
            .unwrap();
        let bytes = BASE64_STANDARD.decode(merged.encode().unwrap()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut &*bytes).unwrap();
        assert_eq!(read.len(), 21);
        assert_eq!(read, merged.0);
        assert!(Latencies::merged([].into_iter()).unwrap().is_none());
    }

    #[test]
    fn the_largest_time_is_exact_and_more_than_a_minute_is_rejected() {
        let mut latencies = of([1, 1_000_000].into_iter());
        let largest = latencies.observations().last().unwrap();
        assert_eq!(largest.statistic, Statistic::Max);
        assert!((largest.value / 1e6 - 1.0).abs() < 1e-3, "{largest:?}");
        assert!(latencies.add(Duration::from_secs(3600)).is_err());
    }
}
