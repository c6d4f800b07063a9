//! Native measurements, by CPU time, as lines of JSON. `cycle`: nanoseconds per cycle. `costs`:
//! nanoseconds per operation with so many tasks waiting.

#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("cycle") => native::cycle(),
        Some("costs") => native::costs(),
        _ => panic!("expected one argument: cycle or costs"),
    }
}

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use cpu_time::ProcessTime;
    use fencepost::id::TaskId;
    use fencepost_bench::{Bench, queue};

    const CYCLES: u32 = 100_000;
    const ROUNDS: u32 = 50;
    const REPEATS: usize = 9;

    pub fn cycle() {
        let mut bench = Bench::default();
        bench.cycles(CYCLES / 10);
        let each = median(|| bench.cycles(CYCLES), CYCLES);
        println!("{{\"native\":{each:.0}}}");
    }

    pub fn costs() {
        for (tasks, queues) in
            [(1_000, 1), (10_000, 1), (100_000, 1), (1_000_000, 1), (100_000, 1_000)]
        {
            let names: Vec<String> = (0..queues).map(|number| format!("q{number}")).collect();
            let mut bench = Bench::default();
            for number in 0..tasks {
                bench.enqueue(&names[number % queues]);
                if number % 1_000 == 999 {
                    bench.commit();
                }
            }
            bench.commit();
            let name = names[0].as_str();
            let mut measured = Vec::new();
            measured.push(("enqueue", median(|| rounds(&mut bench, |b| b.enqueue(name)), ROUNDS)));
            let mut claims = Vec::new();
            let claim = |b: &mut Bench, claims: &mut Vec<_>| claims.push(b.claim(name));
            let claiming = || {
                (0..ROUNDS).for_each(|_| {
                    claim(&mut bench, &mut claims);
                    bench.commit();
                })
            };
            measured.push(("claim", median(claiming, ROUNDS)));
            let completing = || {
                claims.drain(..ROUNDS as usize).for_each(|claim| {
                    bench.complete(name, claim);
                    bench.commit();
                })
            };
            measured.push(("complete", median(completing, ROUNDS)));
            measured.extend(reads(&mut bench, name));
            let fields = measured.iter().map(|(what, ns)| format!("\"{what}\":{ns:.0}"));
            let fields = fields.collect::<Vec<_>>().join(",");
            println!("{{\"tasks\":{tasks},\"queues\":{queues},{fields}}}");
        }
    }

    fn reads(bench: &mut Bench, name: &str) -> [(&'static str, f64); 3] {
        let now = bench.now();
        let list = |b: &mut Bench| {
            let page = b.engine.view(now).tasks(queue(name), None, TaskId::default(), 100);
            assert!(!page.items.is_empty());
        };
        let counts = |b: &mut Bench| assert!(b.engine.view(now).counts(queue(name))[1] > 0);
        let due = |b: &mut Bench| assert!(b.engine.view(now).next_due(queue(name)).is_some());
        [
            ("list", median(|| repeat(bench, list), ROUNDS)),
            ("counts", median(|| repeat(bench, counts), ROUNDS)),
            ("nextDue", median(|| repeat(bench, due), ROUNDS)),
        ]
    }

    fn rounds(bench: &mut Bench, mut one: impl FnMut(&mut Bench)) {
        for _ in 0..ROUNDS {
            one(bench);
            bench.commit();
        }
    }

    fn repeat(bench: &mut Bench, mut one: impl FnMut(&mut Bench)) {
        (0..ROUNDS).for_each(|_| one(bench));
    }

    /// Nanoseconds of CPU per unit, the median of several runs of so many units.
    fn median<T>(mut run: impl FnMut() -> T, units: u32) -> f64 {
        let mut each: Vec<f64> = (0..REPEATS)
            .map(|_| {
                let start = ProcessTime::now();
                std::hint::black_box(run());
                start.elapsed().as_nanos() as f64 / f64::from(units)
            })
            .collect();
        each.sort_by(f64::total_cmp);
        each[REPEATS / 2]
    }
}
