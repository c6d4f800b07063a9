//! Native measurements, by CPU time. `cycle`: for each line of input with a number of cycles, the
//! nanoseconds that each took. `costs`: nanoseconds per operation with so many tasks waiting, as
//! lines of JSON.

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
    use fencepost::ops::read::Way;
    use fencepost_bench::{Bench, queue};

    const ROUNDS: u32 = 50;
    const TURNS: usize = 15;
    /// Tasks, and the queues they are in.
    const SHAPES: [(usize, usize); 5] =
        [(1_000, 1), (10_000, 1), (100_000, 1), (1_000_000, 1), (100_000, 1_000)];

    pub fn cycle() {
        let mut bench = Bench::default();
        for line in std::io::stdin().lines() {
            let count = line.expect("input is text").parse().expect("a number of cycles");
            println!("{:.0}", nanoseconds(|| bench.cycles(count), count));
        }
    }

    /// The shapes take turns, so that a busy machine slows all of them.
    pub fn costs() {
        let mut filled = SHAPES.map(|(tasks, queues)| fill(tasks, queues));
        let mut turns = SHAPES.map(|_| [(); 6].map(|()| Vec::with_capacity(TURNS)));
        for _ in 0..TURNS {
            for (bench, turns) in filled.iter_mut().zip(&mut turns) {
                turns.iter_mut().zip(turn(bench)).for_each(|(all, each)| all.push(each));
            }
        }
        let names = ["enqueue", "claim", "complete", "list", "counts", "nextDue"];
        for ((tasks, queues), turns) in SHAPES.into_iter().zip(turns) {
            let fields = names.iter().zip(turns.map(median));
            let fields = fields.map(|(name, each)| format!("\"{name}\":{each:.0}"));
            let fields = fields.collect::<Vec<_>>().join(",");
            println!("{{\"tasks\":{tasks},\"queues\":{queues},{fields}}}");
        }
    }

    fn fill(tasks: usize, queues: usize) -> Bench {
        let names: Vec<String> = (0..queues).map(|number| format!("q{number}")).collect();
        let mut bench = Bench::default();
        for number in 0..tasks {
            bench.enqueue(&names[number % queues]);
            if number % 1_000 == 999 {
                bench.commit();
            }
        }
        bench.commit();
        bench
    }

    /// What each operation costs now, on the first queue.
    fn turn(bench: &mut Bench) -> [f64; 6] {
        let name = "q0";
        let each = |bench: &mut Bench, one: &mut dyn FnMut(&mut Bench)| {
            nanoseconds(|| (0..ROUNDS).for_each(|_| one(bench)), ROUNDS)
        };
        let enqueue = each(bench, &mut |bench| {
            bench.enqueue(name);
            bench.commit();
        });
        let mut claims = Vec::with_capacity(ROUNDS as usize);
        let claim = each(bench, &mut |bench| {
            claims.push(bench.claim(name));
            bench.commit();
        });
        let complete = each(bench, &mut |bench| {
            let claim = claims.pop().expect("as many as were claimed");
            bench.complete(name, claim);
            bench.commit();
        });
        let now = bench.now();
        let list = each(bench, &mut |bench| {
            let page = bench.engine.view(now).tasks(queue(name), None, (Way::Up, None), 100);
            assert!(!page.items.is_empty());
        });
        let counts = each(bench, &mut |bench| {
            assert!(bench.engine.view(now).counts(queue(name)).unwrap()[1] > 0);
        });
        let next_due = each(bench, &mut |bench| {
            assert!(bench.engine.view(now).next_due(queue(name)).unwrap().is_some());
        });
        [enqueue, claim, complete, list, counts, next_due]
    }

    /// Nanoseconds of CPU per unit.
    fn nanoseconds<T>(run: impl FnOnce() -> T, units: u32) -> f64 {
        let start = ProcessTime::now();
        std::hint::black_box(run());
        start.elapsed().as_nanos() as f64 / f64::from(units)
    }

    fn median(mut all: Vec<f64>) -> f64 {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    }
}
