"""A small log of each text format that `resilver import logs` reads."""

JOBS = """\
obdfilter.scratch-OST0000.job_stats=
job_stats:
- job_id:          4711
  snapshot_time:   1700000010.5 secs.nsecs
  start_time:      1700000000.0 secs.nsecs
  read_bytes:      { samples:           2, unit: bytes, min: 4096, max: 4096, sum:            8192 }
  write_bytes:     { samples:          20, unit: bytes, min: 1048576, max: 1048576, sum: 20971520 }
  setattr:         { samples:           0, unit:  reqs }
- job_id:          "cp.1000"
  snapshot_time:   1700000011
  read_bytes:      { samples:           0, unit: bytes }
  write_bytes:     { samples:           1, unit: bytes, min: 100, max: 100, sum: 100, sumsq: 10000 }
obdfilter.scratch-OST0001.job_stats=job_stats:
obdfilter.scratch-OST0002.job_stats=
job_stats:
- job_id:          4711
  snapshot_time:   1700000012
  read_bytes:      { samples:           0, unit: bytes, min: 0, max: 0, sum: 0 }
  write_bytes:     { samples:           4, unit: bytes, min: 5, max: 5, sum: 20 }
obdfilter.scratch-OST0002.num_exports=5
"""

SIZES = """\
osd-ldiskfs.scratch-OST0000.brw_stats=
snapshot_time:            1700000010.5 secs.nsecs

                           read      |     write
pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
1:		         6  60  60   |    0   0   0
256:		         0   0  60   |   20  66  66
1K:		         4  40 100   |   10  33 100

                           read      |     write
disk I/O size          ios   % cum % |  ios         % cum %
4K:		         9  90  90   |    0   0   0
1M:		         1  10 100   |   30 100 100
osd-ldiskfs.scratch-MDT0000.brw_stats=
snapshot_time:            1700000010.5 secs.nsecs

                           read      |     write
pages per bulk r/w     rpcs  % cum % |  rpcs        % cum %
1:		       500 100 100   |  500 100 100
"""

NETWORK = """\
statistics:
    msgs_alloc: 0
    send_count: 12
    recv_count: 11
    drop_count: 3
    send_length: 5000
    recv_length: 4000
"""

COUNTERS = """\
memused=978549115
obdfilter.scratch-OST0000.stats=
snapshot_time             1700000010.5 secs.nsecs
start_time                1700000000.5 secs.nsecs
read_bytes                3 samples [bytes] 4096 1048576 3000 1
write_bytes               9 samples [bytes] 4096 1048576 9000 1
obdfilter.scratch-OST0001.stats=
snapshot_time             1700000010.5 secs.nsecs
osd-ldiskfs.scratch-OST0001.kbytesfree=600
osd-ldiskfs.scratch-OST0001.kbytestotal=1000
"""

SERVERS = """\
BEGIN 1700000000
  3 UP mdc scratch-MDT0000-mdc-ffff885f81a64000 8dbdc7f6-8f86 5 10.0.0.4@o2ib2
  4 UP osc scratch-OST0000-osc-ffff885f81a64000 8dbdc7f6-8f86 5 10.0.0.5@o2ib2
  5 IN osc scratch-OST0001-osc-ffff885f81a64000 8dbdc7f6-8f86 5 10.0.0.5@o2ib2
"""

FILL = """\
1700000000
UUID                   1K-blocks        Used   Available Use% Mounted on
scratch-MDT0000_UUID        1000         500         500  50% /scratch[MDT:0]
scratch-OST0000_UUID        1000         400         600  40% /scratch[OST:0]
1700003600
UUID                   1K-blocks        Used   Available Use% Mounted on
scratch-OST0000_UUID        1000         450         550  45% /scratch[OST:0]
"""

TEXTS = {
    "jobs": JOBS,
    "requests": SIZES,
    "network": NETWORK,
    "counters": COUNTERS,
    "servers": SERVERS,
    "fill": FILL,
}
"""By the kind that each is read as."""
