//! A slow device in each of its disciplines: what it serves takes 1 / health as long, also what is under way.

use resilver_device::{Device, Direction, Disk, Finished, Io, LaneDisk, Mixed, Pace, Queued, ReadsFirst, Service};
use resilver_kernel::lanes::Lanes;
use resilver_units::{Bytes, ObjectId, SimDuration, SimTime};

const SERVICE: u64 = 100;

fn at(picoseconds: u64) -> SimTime {
    SimTime::from_picoseconds(picoseconds)
}

/// When `count` reads complete that come together at time zero.
fn completions(mut device: impl Device, count: u64) -> Vec<u64> {
    let io = Io { object: ObjectId::new(0), offset: 0, bytes: Bytes::new(1), direction: Direction::Read, lane: 0 };
    let (mut told, mut next) = (Vec::new(), None);
    for tag in 0..count {
        match device.submit(at(0), io, tag) {
            Queued::Completes(time) => told.push(time.picoseconds()),
            Queued::Begins(end) => next = Some(end),
            Queued::Waits => {}
        }
    }
    while let Some(end) = next {
        let Finished { next: following, .. } = device.finish(end);
        told.push(end.picoseconds());
        next = following;
    }
    assert_eq!(device.usage().busy.picoseconds(), *told.last().unwrap(), "the device is busy all the time");
    told
}

fn all_disciplines(pace: &Pace, count: u64) -> Vec<Vec<u64>> {
    let time = SimDuration::from_picoseconds(SERVICE);
    let service = Service::Fixed { read: time, write: time };
    let lanes = Lanes::of_shares(&[0.5, 0.5]).unwrap();
    let (mut fifo, mut reads_first) = (Disk::new(&service, 0), ReadsFirst::new(&service, 0));
    let mut laned = LaneDisk::new(&service, 0, &lanes);
    let mut mixed = Mixed::Fifo(Disk::new(&service, 0));
    fifo.set_pace(pace.clone());
    reads_first.set_pace(pace.clone());
    laned.set_pace(pace.clone());
    mixed.set_pace(pace.clone());
    vec![
        completions(fifo, count),
        completions(reads_first, count),
        completions(laned, count),
        completions(mixed, count),
    ]
}

#[test]
fn a_device_of_health_h_serves_a_request_in_one_over_h_of_its_time() {
    let pace = Pace::default().with_health(&[(at(0), 0.25)]);
    for times in all_disciplines(&pace, 3) {
        assert_eq!(times, [400, 800, 1200]);
    }
}

#[test]
fn a_request_under_way_goes_on_at_the_new_speed() {
    // Three requests of 100 ps; from 150 ps to 350 ps the device works at a tenth. The second is half done at 150, gets 20 done
    // until 350 and takes 30 more; the third is served at full speed.
    let pace = Pace::default().with_health(&[(at(150), 0.1), (at(350), 1.0)]);
    for times in all_disciplines(&pace, 3) {
        assert_eq!(times, [100, 380, 480]);
    }
}
