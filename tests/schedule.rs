//! Schedules: grids, firing, catching up, registering again.

mod support;

use fencepost::id::{Instant, Millis};
use fencepost::limits::{FIRED_BYTES_MAX, NOW_MAX, SCHEDULES_MAX};
use fencepost::name::NameRef;
use fencepost::ops::ScheduleRequest;
use fencepost::schedule::{Interval, Job, Passed, When};
use support::log::every;
use support::script::check;
use support::{assert_verified, at, commit, engine};

#[test]
fn the_first_boundary_is_one_interval_on_and_fires_one_task_with_it() {
    check(
        "
        0ms   schedule tick every 10s job mail hello  => 10s
        9999ms fire                      => 0
        9999ms counts mail               => nothing
        10s   fire                       => 1
        10s   fire                       => 0
        10s   get 1 state payload due boundary => ready hello 10s 10s
        10s   schedule-of tick next last fired => 20s 10s 1
        25s   fire                       => 1
        25s   get 2 due boundary         => 25s 20s
        25s   schedule-of tick next last fired => 30s 25s 2
    ",
    );
}

#[test]
fn the_task_has_the_stamps_of_the_job_and_expires_from_the_firing() {
    check(
        "
        0ms  schedule s every 1s job mail hello priority 7 expires 5s attempts 2 lease 3s => 1s
        4s   fire                        => 4
        4s   get 4 priority expires boundary => 7 9s 4s
        4s   claim mail as w             => task 1, token A
        4s   get 1 deadline expires      => 7s 9s
        9s   sweep mail                  => expired 4, purged 0
    ",
    );
}

#[test]
fn three_hundred_missed_boundaries_follow_the_catch_up_and_the_grid_goes_on_in_the_future() {
    check(
        "
        0ms  schedule a every 1s catch-up all job all x    => 1s
        0ms  schedule l every 1s catch-up last job last x  => 1s
        0ms  schedule n every 1s catch-up none job none x  => 1s
        300s+500ms fire                  => 65
        300s+500ms counts all            => ready 64
        300s+500ms get 1 in all boundary => 1s
        300s+500ms get 64 in all boundary due => 64s 300s+500ms
        300s+500ms get 65 in last boundary => 300s
        300s+500ms counts none           => nothing
        300s+500ms schedule-of a next fired => 301s 64
        300s+500ms schedule-of l next fired => 301s 1
        300s+500ms schedule-of n next last fired => 301s never 0
        301s fire                        => 3
        301s get 68 in none boundary     => 301s
    ",
    );
}

#[test]
fn none_fires_the_only_one_and_skips_two() {
    check(
        "
        0ms  schedule n every 10s catch-up none job mail x => 10s
        19s  fire                        => 1
        40s  fire                        => 0
        40s  schedule-of n next          => 50s
        50s  fire                        => 1
    ",
    );
}

#[test]
fn sixty_four_is_the_most_that_fires_and_the_sixty_fifth_is_skipped() {
    check(
        "
        0ms  schedule a every 1s job mail x => 1s
        64s  fire                        => 64
        128s fire                        => 64
        128s schedule-of a next fired    => 129s 128
        193s fire                        => 64
        193s get 192 boundary            => 192s
        193s schedule-of a next fired    => 194s 192
    ",
    );
}

#[test]
fn at_fires_once_and_is_over() {
    check(
        "
        0ms  schedule later at 10s job mail x  => 10s
        0ms  schedule past at -5s job mail y   => -5s
        0ms  fire                        => 1
        0ms  get 1 payload due boundary  => y 0ms -5s
        10s  fire                        => 1
        10s  schedule-of later next last fired => never 10s 1
        1d   fire                        => 0
        # Registered again at the next start of the program, it does not fire again.
        1d   schedule later at 10s job mail x  => never
        1d   fire                        => 0
        1d   schedule later at 11s job mail x  => 11s
        1d   fire                        => 1
    ",
    );
}

#[test]
fn an_equal_registration_keeps_the_boundary_and_takes_the_job_a_changed_one_starts_anew() {
    check(
        "
        0ms  schedule s every 10s job mail old   => 10s
        7s   schedule s every 10s catch-up last job post new => 10s
        10s  fire                        => 1
        10s  get 1 in post payload boundary => new 10s
        17s  schedule s every 5s job mail new    => 22s
        17s  schedule-of s next last fired => 22s 10s 1
        17s  schedule s at 40s job mail new      => 40s
        17s  schedule s cron daily Zone first 50s job mail new => 50s
        18s  schedule s cron daily Zone first 60s job mail new => 50s
        18s  schedule s cron daily Other first 60s job mail new => 60s
        18s  schedule s cron hourly Other first 70s job mail new => 70s
    ",
    );
}

#[test]
fn a_boundary_that_was_missed_before_an_equal_registration_still_fires() {
    check(
        "
        0ms  schedule s every 10s job mail x => 10s
        12s  schedule s every 10s job mail y => 10s
        12s  fire                        => 1
        12s  get 1 payload boundary      => y 10s
    ",
    );
}

#[test]
fn unscheduling_ends_it_and_leaves_the_tasks_it_made() {
    check(
        "
        0ms  schedule s every 1s job mail x => 1s
        1s   fire                        => 1
        1s   unschedule s                => removed
        1s   unschedule s                => nothing
        9s   fire                        => 0
        9s   counts mail                 => ready 1
        9s   schedules                   => nothing
    ",
    );
}

#[test]
fn a_paused_queue_is_fired_into_and_hands_out_nothing() {
    check(
        "
        0ms  schedule s every 1s job mail x => 1s
        0ms  pause mail                  => ok
        1s   fire                        => 1
        1s   claim mail as w             => nothing
        1s   resume mail                 => ok
        1s   claim mail as w             => task 1, token A
    ",
    );
}

#[test]
fn a_cron_fires_only_from_the_boundary_that_it_waits_for() {
    check(
        "
        0ms  schedule c cron daily Zone first 10s job mail x => 10s
        20s  fire                        => 0
        25s  fire-cron c came 11s next 30s => 0
        25s  fire-cron other came 10s next 30s => 0
        25s  fire-cron c came 10s,20s next 30s => 2
        # Another replica comes late with the same boundaries.
        25s  fire-cron c came 10s,20s next 30s => 0
        25s  schedule-of c next last fired => 30s 25s 2
        25s  get 2 boundary              => 20s
        30s  fire-cron c came 30s next never => 1
        9d   schedule-of c next          => never
        9d   fire-cron c came 30s next never => 0
    ",
    );
}

#[test]
fn what_the_host_worked_out_is_checked() {
    check(
        "
        0ms  schedule e every 10s job mail x => 10s
        0ms  schedule c cron daily Zone first 10s job mail x => 10s
        0ms  schedule c cron daily Zone job mail x => 10s
        0ms  schedule d cron daily Zone job mail x => INVALID_SCHEDULE
        5s   schedule d cron daily Zone first 5s job mail x => INVALID_SCHEDULE
        25s  fire-cron e came 10s next 30s => 0
        25s  fire-cron c came 10s,30s next 40s => INVALID_ARGUMENT
        25s  fire-cron c came 10s,10s next 40s => INVALID_ARGUMENT
        25s  fire-cron c came 10s,20s newest 15s next 40s => INVALID_ARGUMENT
        25s  fire-cron c came 10s,20s newest 26s next 40s => INVALID_ARGUMENT
        25s  fire-cron c came 10s,20s next 25s => INVALID_ARGUMENT
        25s  schedule-of c next fired    => 10s 0
    ",
    );
}

#[test]
fn a_cron_catches_up_like_the_others() {
    check(
        "
        0ms  schedule l cron a Z first 1s catch-up last job mail x => 1s
        0ms  schedule n cron a Z first 1s catch-up none job mail x => 1s
        9s   fire-cron l came 1s,2s newest 8s next 10s => 1
        9s   get 1 boundary              => 8s
        9s   fire-cron n came 1s,2s newest 8s next 10s => 0
        9s   schedule-of n next          => 10s
        10s  fire-cron n came 10s next 11s => 1
    ",
    );
}

#[test]
fn schedules_need_the_right_to_manage_their_queue_and_show_to_who_may_inspect_it() {
    check(
        "
        caller ann may queue:mail:manage,inspect
        caller bob may queue:mail:enqueue,claim,settle queue:post:manage
        caller eve may queue:mail:inspect
        0ms  ann: schedule s every 10s job mail x => 10s
        0ms  ann: schedule t every 10s job post x => PERMISSION_DENIED
        0ms  bob: schedule t every 10s job mail x => PERMISSION_DENIED
        # Nor may bob turn ann's schedule into one of his own.
        0ms  bob: schedule s every 10s job post x => PERMISSION_DENIED
        # Nor take away what he does not manage, or see it.
        0ms  bob: unschedule s           => PERMISSION_DENIED
        0ms  bob: unschedule other       => nothing
        0ms  eve: unschedule s           => PERMISSION_DENIED
        0ms  bob: schedule-of s next     => PERMISSION_DENIED
        0ms  bob: schedules              => nothing
        0ms  ann: schedule-of s next     => 10s
        0ms  schedule p every 10s job post x => 10s
        0ms  ann: schedules              => s
        0ms  schedules                   => p s
        10s  fire                        => 2
        10s  ann: unschedule s           => removed
    ",
    );
}

#[test]
fn registering_firing_and_taking_away_are_told() {
    check(
        "
        caller ann may queue:mail:inspect
        caller bob may queue:post:inspect
        0ms  schedule s every 10s catch-up none job mail x => 10s
        0ms  events                      => scheduled s mail
        10s  fire                        => 1
        10s  events                      => enqueued mail 1 + fired s mail 1
        # What skips is not told: nothing was made.
        50s  fire                        => 0
        50s  schedule s every 10s job post x => 60s
        50s  unschedule s                => removed
        50s  events                      => scheduled s post | unscheduled s post
        50s  ann: events                 => scheduled s mail | enqueued mail 1 + fired s mail 1
        50s  bob: events                 => scheduled s post | unscheduled s post
    ",
    );
}

#[test]
fn a_repaired_clock_puts_schedules_on_their_grid_after_it() {
    check(
        "
        0ms  schedule e every 10s job mail x => 10s
        0ms  schedule o at 5d job mail x => 5d
        0ms  schedule c cron daily Zone first 1d job mail x => 1d
        10d+3s fire                      => 65
        10d+3s schedule-of e next        => 10d+10s
        14s  repair-clock                => repaired
        14s  schedule-of e next fired    => 20s 64
        14s  schedule-of o next          => never
        # Nobody said where it is then, so it stays.
        14s  schedule-of c next          => 1d
        20s  fire                        => 1
        20s  get 66 boundary due         => 20s 20s
    ",
    );
}

fn named(name: &str) -> NameRef<'_> {
    NameRef::shared("name", name).unwrap()
}

/// With a payload of some size.
fn heavy(name: &str, interval: u64, payload_bytes: usize) -> ScheduleRequest<'_> {
    let request = every(name, interval);
    let payload = vec![7; payload_bytes].as_slice().into();
    ScheduleRequest { job: Job { payload, ..request.job }, ..request }
}

#[test]
fn a_repaired_clock_takes_the_boundaries_that_the_host_worked_out() {
    let mut engine = engine(1);
    let when = When::Cron { expression: "daily".into(), time_zone: "Zone".into() };
    let first = Some(at(500_000));
    engine.schedule(at(400_000), ScheduleRequest { when, first, ..every("c", 1) }).unwrap();
    commit(&mut engine);
    let crons = [(named("c").to_name(), at(2_000))].into_iter().collect();
    assert!(engine.repair_clock(at(1_000), &crons).unwrap());
    commit(&mut engine);
    let mut crons = engine.state().timetable.crons();
    assert_eq!(crons.next().map(|(next, _)| next), Some(at(2_000)));
    assert_verified(&engine);
}

#[test]
fn large_payloads_fire_over_several_commits_and_each_boundary_once() {
    let mut engine = engine(1);
    engine.schedule(at(0), heavy("big", 1_000, 1 << 20)).unwrap();
    commit(&mut engine);
    let mut boundaries = Vec::new();
    let mut more = true;
    let mut commits = 0;
    while more {
        // Time goes on meanwhile, and newer boundaries come; still the oldest 64 fire.
        let fired = engine.fire_due(at(300_000 + 10_000 * commits)).unwrap();
        assert!(fired.tasks >= 1, "every commit gets on");
        more = fired.more;
        let bytes = commit(&mut engine).len();
        assert!(bytes < FIRED_BYTES_MAX + (1 << 20), "{bytes}");
        commits += 1;
        boundaries = engine.state().tasks().map(|task| task.spec.boundary.unwrap()).collect();
    }
    assert!(commits > 5, "{commits}");
    let expected: Vec<Instant> = (1..=64).map(|nth| at(1_000 * nth)).collect();
    assert_eq!(boundaries, expected);
    let next = engine.state().timetable.next_due().unwrap();
    assert!(next > engine.state().head.time && (next.get() - at(0).get()).is_multiple_of(1_000));
    assert_verified(&engine);
}

#[test]
fn the_largest_payload_that_is_taken_also_fires() {
    let mut options = engine(1).options().clone();
    options.payload_bytes_max = usize::MAX;
    let mut engine = fencepost::engine::Engine::new(options);
    let refused = engine.schedule(at(0), heavy("big", 1_000, FIRED_BYTES_MAX + 1)).unwrap_err();
    assert_eq!(refused.code().as_str(), "PAYLOAD_TOO_LARGE");
    engine.schedule(at(0), heavy("big", 1_000, FIRED_BYTES_MAX)).unwrap();
    commit(&mut engine);
    assert_eq!(engine.fire_due(at(1_000)).unwrap().tasks, 1);
    commit(&mut engine);
}

#[test]
fn a_thousand_rows_are_the_most_that_one_commit_of_firing_writes() {
    let mut engine = engine(1);
    for number in 0..1_500 {
        engine.schedule(at(0), every(&format!("s{number:04}"), 1_000)).unwrap();
    }
    commit(&mut engine);
    let first = engine.fire_due(at(1_000)).unwrap();
    assert_eq!((first.tasks, first.more), (500, true));
    commit(&mut engine);
    let mut tasks = first.tasks;
    while tasks < 1_500 {
        let fired = engine.fire_due(at(1_000)).unwrap();
        assert!(fired.tasks > 0);
        tasks += fired.tasks;
        commit(&mut engine);
    }
    assert_eq!(engine.fire_due(at(1_000)).unwrap().tasks, 0);
}

#[test]
fn there_are_only_so_many_schedules() {
    let mut engine = engine(1);
    for number in 0..SCHEDULES_MAX {
        engine.schedule(at(0), every(&format!("s{number}"), 1_000)).unwrap();
        if number.is_multiple_of(100) {
            commit(&mut engine);
        }
    }
    let refused = engine.schedule(at(0), every("more", 1_000)).unwrap_err();
    assert_eq!(refused.code().as_str(), "LIMIT_EXCEEDED");
    engine.schedule(at(0), every("s7", 1_000)).unwrap();
    assert!(engine.unschedule(at(0), named("s7")).unwrap());
    engine.schedule(at(0), every("more", 1_000)).unwrap();
}

#[test]
fn intervals_and_instants_beyond_the_year_2200_are_refused_and_sums_stop() {
    let mut engine = engine(1);
    let room = at(0).until(NOW_MAX).get();
    let refused = engine.schedule(at(0), every("s", room + 1)).unwrap_err();
    assert_eq!(refused.code().as_str(), "INVALID_SCHEDULE");
    assert!(refused.to_string().starts_with("when.every: expected"), "{refused}");
    engine.schedule(at(0), every("s", room)).unwrap();
    let when = When::At(NOW_MAX.after(Millis::saturating(1)));
    let refused = engine.schedule(at(0), ScheduleRequest { when, ..every("t", 1) }).unwrap_err();
    assert!(refused.to_string().starts_with("when.at: expected"), "{refused}");
    commit(&mut engine);
    assert_eq!(engine.fire_due(Instant::NEVER).unwrap().tasks, 1);
    commit(&mut engine);
    // The one after it lies beyond the end of every clock, and never comes.
    assert_eq!(engine.fire_due(Instant::NEVER).unwrap().tasks, 0);
    assert!(Interval::try_from(0).is_err());
}

#[test]
fn long_expressions_are_refused() {
    let mut engine = engine(1);
    let first = Some(at(1_000));
    for (expression, time_zone) in [(1_025, 1), (1, 1_025)] {
        let (expression, time_zone) = ("*".repeat(expression), "Z".repeat(time_zone));
        let when = When::Cron { expression: expression.into(), time_zone: time_zone.into() };
        let request = ScheduleRequest { when, first, ..every("c", 1) };
        let refused = engine.schedule(at(0), request).unwrap_err();
        assert_eq!(refused.code().as_str(), "INVALID_SCHEDULE");
    }
}

/// The newest and the following boundary, without a loop over what was missed.
#[test]
fn ten_years_of_missed_milliseconds_are_worked_out_at_once() {
    let mut engine = engine(1);
    engine.schedule(at(0), every("fast", 1)).unwrap();
    commit(&mut engine);
    let now = at(10 * 365 * 86_400_000);
    assert_eq!(engine.fire_due(now).unwrap().tasks, 64);
    commit(&mut engine);
    assert_eq!(engine.state().timetable.next_due(), Some(now.after(Millis::saturating(1))));
}

#[test]
fn boundaries_from_outside_are_bounded() {
    let rising: Vec<Instant> = (1..=65).map(at).collect();
    let sound = |count: usize| Passed {
        oldest: rising[..count].to_vec(),
        newest: rising[count - 1],
        next: None,
    };
    assert!(sound(64).is_sound(at(1), at(99)));
    assert!(!sound(65).is_sound(at(1), at(99)));
    let empty = Passed { oldest: Vec::new(), ..sound(1) };
    assert!(!empty.is_sound(at(1), at(99)));
}
