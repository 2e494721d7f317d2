//! Ten thousand seeds of the simulator. `EVERLOOP_SEED=n` plays one of them.

use everloop_testkit::{SimReport, simulate};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const SEEDS: u64 = 10_000;

/// `EVERLOOP_SEEDS=n` plays as many.
fn seeds() -> u64 {
    std::env::var("EVERLOOP_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(SEEDS)
}

#[test]
fn ten_thousand_seeds_keep_every_promise() {
    if let Some(seed) = std::env::var("EVERLOOP_SEED").ok().and_then(|seed| seed.parse().ok()) {
        let played = simulate(seed).unwrap_or_else(|report| panic!("{report}"));
        println!("seed {seed}: {played:?}");
        return;
    }
    let (begun, seeds) = (Instant::now(), seeds());
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let total = std::thread::scope(|scope| {
        let play = || {
            let mut sum = SimReport::default();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= seeds {
                    return sum;
                }
                sum.add(&simulate(seed).unwrap_or_else(|report| panic!("{report}")));
            }
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(play)).collect();
        let mut total = SimReport::default();
        handles.into_iter().for_each(|handle| total.add(&handle.join().expect("every seed holds")));
        total
    });
    let took = begun.elapsed().as_secs_f64();
    println!("{seeds} seeds in {took:.1} s, {:.0} seeds/s: {total:?}", seeds as f64 / took);
    // A simulation without faults proves nothing.
    for (what, count) in [
        ("crashes", total.crashes),
        ("holds", total.holds),
        ("cuts", total.cuts),
        ("jumps", total.jumps),
        ("stops", total.stops),
        ("takeovers", total.takeovers),
        ("canceled", total.canceled),
        ("unsettled", total.unsettled),
    ] {
        assert!(count > seeds / 50, "only {count} {what}");
    }
}

#[test]
fn a_seed_plays_out_the_same_every_time() {
    for seed in 0..200 {
        assert_eq!(simulate(seed), simulate(seed), "seed {seed}");
    }
}
