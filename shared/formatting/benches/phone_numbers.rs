//! Measures how long it takes to parse, classify and format a number, against the `phonenumber`
//! crate:
//!
//! ```sh
//! cargo bench -p formatting
//! ```
//!
//! Prints microseconds for each number, and the ratio to the baseline. The crates take turns, and
//! the best of several rounds is taken, since other work on the machine only ever adds time.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use formatting::{DefaultCountry, PhoneNumber};
use phonenumber::Mode;

const ROUNDS: usize = 5;

/// E.164 numbers of many countries, and of the North American plan.
const WORLD: [&str; 16] = [
    "+442079460958",
    "+4930123456",
    "+33123456789",
    "+390212345678",
    "+34810123456",
    "+5511961234567",
    "+541123456789",
    "+8613123456789",
    "+81312345678",
    "+918123456789",
    "+27711234567",
    "+61212345678",
    "+6421123456",
    "+74951234567",
    "+46701234567",
    "+80012345678",
];
const NORTH_AMERICA: [&str; 4] = ["+13052345678", "+14162345678", "+18003569377", "+18762345678"];

fn describe(text: &str) {
    black_box(PhoneNumber::parse(black_box(text), DefaultCountry::default()));
}

fn describe_with_baseline(text: &str) {
    let Ok(number) = phonenumber::parse(None, black_box(text)) else { return };
    black_box(number.is_valid());
    black_box(number.number_type(&phonenumber::metadata::DATABASE));
    for mode in [Mode::E164, Mode::International, Mode::National, Mode::Rfc3966] {
        black_box(number.format().mode(mode).to_string());
    }
}

/// How long `work` takes for all `numbers`.
fn measure(numbers: &[&str], work: fn(&str)) -> Duration {
    let started = Instant::now();
    numbers.iter().for_each(|number| work(number));
    started.elapsed()
}

fn main() {
    println!("{:<16}{:>14}{:>16}{:>10}", "numbers", "ours µs", "phonenumber µs", "ratio");
    for (name, numbers) in [("world", WORLD.as_slice()), ("north america", &NORTH_AMERICA)] {
        measure(numbers, describe);
        measure(numbers, describe_with_baseline);
        let (mut best_ours, mut best_baseline) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            best_ours = best_ours.min(measure(numbers, describe));
            best_baseline = best_baseline.min(measure(numbers, describe_with_baseline));
        }
        let microseconds = |time: Duration| time.as_secs_f64() * 1e6 / numbers.len() as f64;
        let (ours, baseline) = (microseconds(best_ours), microseconds(best_baseline));
        println!("{name:<16}{ours:>14.1}{baseline:>16.1}{:>9.1}x", baseline / ours);
    }
}
