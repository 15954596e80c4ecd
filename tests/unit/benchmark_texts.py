"""A small output of each benchmark program, written after its public source, with made-up rates.

What tests expect is derived beside them in `test_importers_benchmarks.py`. Programs print lines as
long as they like.
"""

# ruff: noqa: E501

# 8 devices' worth of format in two: 30 s of 1 MiB at 3,000 and 2,700 requests.
FAIR_LIO = """\
run time: 30.000000 seconds
queue depth: 4
operation: sequential write
request size: 1048576 bytes

M /dev/sda: 3145728000 100.00 MB/s
m /dev/sdb: 2831155200 90.00 MB/s
total: 5976883200 190.00 MB/s skew 10.00 MB/s
"""

# As pdsh joins two hosts, line by line. 4 KiB x 15,360 in 30 s = 2 MiB/s.
FAIR_LIO_HOSTS = "".join(
    f"{host}: {line}\n"
    for line in (
        "run time: 30.000000 seconds",
        "queue depth: 16",
        "operation: random read",
        "random offset seed: 7",
        "request size: 4096 bytes",
        "",
        "M /dev/sda: 62914560 2.00 MB/s",
        "total: 62914560 2.00 MB/s skew 0.00 MB/s",
    )
    for host in ("oss1", "oss2")
)

# After 2.5 s the device ended; fair-lio counts the half second as 0.05 s.
FAIR_LIO_END = """\
run time: 2.050000 seconds (end of device reached)
queue depth: 4
operation: sequential read
request size: 1048576 bytes

M /dev/sda: 214958080 100.00 MB/s
total: 214958080 100.00 MB/s skew 0.00 MB/s
"""

SUITE = """\
#io-mode,block-size,queue-size,num-devices,max,min,median,average,stddev
seq_wr,4096,4,1,11.2,9.8,10.5,10.5,0.4
rand_rd,1048576,16,1,80.1,75,78.25,78,1.9
seq_rd,1048576,4,7,701,690,700,699,3
"""

SUITE_RUNS = """\
host, devices, io-mode, block-size, queue-size, num-devices, bw, iter
oss1, /dev/sdc, seq_wr, 1048576, 4, 1, 500.0, 1
oss1, /dev/sdd, seq_wr, 1048576, 4, 1, 450.0, 1
"""

OBDFILTER = (
    "Thu May  5 10:00:00 UTC 2016 Obdfilter-survey for case=disk from oss1\n"
    "ost  7 sz 117440512K rsz 1024 obj    7 thr    7 write 3500.00 [ 480.00, 520.00] "
    "rewrite 3400.00             SHORT read 3000.00 [ 400.00, 450.00] \n"
    "ost  7 sz 117440512K rsz 1024K obj   28 thr   56 write 3600.50 [ 500.00, 520.00] "
    "rewrite    1.00             ERROR read 3100.00 [ 410.00, 450.00] \n"
    "ost  7 sz 117440512K rsz 1024 obj   28 thr  112 Too much buffer space\n"
)

SGPDD = (
    "Thu May  5 10:00:00 UTC 2016 sgpdd-survey on /dev/sdb /dev/sdc from oss1\n"
    "total_size 16777216K rsz 1024 crg     2 thr     8 write  320.50 MB/s     2 x 161.00 =  322.00 "
    "MB/s read  300.25 MB/s     2 x 151.00 =  302.00 MB/s \n"
    "total_size 16777216K rsz 1024 crg     4 thr     8 write 2 failed read  280.00 MB/s     4 x  "
    "70.50 =  282.00 MB/s \n"
    "total_size 16777216K rsz 1024 crg     8 thr  2048 ENOMEM\n"
)

IOR_4 = """\
IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Began               : Mon Jan  1 00:00:00 2024
Command line        : ior -t 1m -b 16m -z
Machine             : Linux node1

Options: 
api                 : POSIX
access              : single-shared-file
ordering in a file  : random
nodes               : 2
tasks               : 16
clients per node    : 8
repetitions         : 2
xfersize            : 1 MiB
blocksize           : 16 MiB
aggregate filesize  : 256 MiB

Results: 

access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----
write     512.00     512.00     0.031250    16384      1024.00    0.000500   0.499000   0.000500   0.500000   0   
read      1024.00    1024.00    0.015625    16384      1024.00    0.000500   0.249000   0.000500   0.250000   0   
write     500.00     500.00     0.031250    16384      1024.00    0.000500   0.511000   0.000500   0.512000   1   
read      1000.00    1000.00    0.015625    16384      1024.00    0.000500   0.255000   0.000500   0.256000   1   

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize aggs(MiB)   API RefNum
write         512.00     500.00     506.00       6.00     512.00     500.00     506.00       6.00    0.50600         NA            NA     0     16   8    2   0     0        1         0    0      1 16777216  1048576     256.0 POSIX      0
"""

IOR_3 = """\
IOR-3.0.1: MPI Coordinated Test of Parallel I/O

Began: Mon Jan  1 00:00:00 2018
Summary:
\tapi                = POSIX
\taccess             = file-per-process
\tordering in a file = sequential offsets
\tordering inter file= no tasks offsets
\tclients            = 4 (2 per node)
\trepetitions        = 1
\txfersize           = 262144 bytes
\tblocksize          = 1 MiB
\taggregate filesize = 4 MiB

access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     400.00     1024.00    256.00     0.000100   0.009800   0.000100   0.010000   0   

Max Write: 400.00 MiB/sec (419.43 MB/sec)
"""

# A task failed after the write: what IOR and mpirun print then.
IOR_FAILED = (
    IOR_3.partition("\nMax Write")[0]
    + """\
ERROR: open64("/scratch/f", 66, 0664) failed, errno 5, Input/output error (aiori-POSIX.c:412)
Primary job  terminated normally, but 1 process returned a non-zero exit code
"""
)

IOR_WRONG = IOR_4.replace(
    "\nSummary of all", "WARNING: Incorrect data on read (12 errors found).\n\nSummary of all"
)

IOR_JSON = """\
{
  "Version": "4.0.0",
  "Began": "Mon Jan  1 00:00:00 2024",
  "tests": [
    {
      "TestID": 0,
      "Parameters": { "testID": 0, "transferSize": 1048576, "randomOffset": 0 },
      "Options": { "api": "POSIX", "ordering in a file": "sequential", "nodes": 2, "tasks": 16 },
      "Results": [
        [
          { "access": "write", "bwMiB": 512.0000, "xferKiB": 1024.0000, "totalTime": 0.5 },
          { "access": "read", "bwMiB": 1024.0000, "xferKiB": 1024.0000, "totalTime": 0.25 },
          { "access": "remove", "totalTime": 0.01 }
        ]
      ]
    }
  ],
  "summary": []
}
"""

MDTEST = """\
-- started at 01/01/2024 00:00:00 --

mdtest-4.0.0 was launched with 16 total task(s) on 2 node(s)
Command line used: mdtest -n 100
16 tasks, 1600 files

SUMMARY rate (in ops/sec): (of 3 iterations)
   Operation     per Rank: Max            Min           Mean      per Iteration: Max            Min           Mean        Std Dev
   ---------               ---            ---           ----                     ---            ---           ----        -------
   File creation              70.000         60.000         65.000            1100.000       1000.000       1050.000         50.000
   File stat                   0.000          0.000          0.000               0.000          0.000          0.000          0.000
   Tree creation              10.000         10.000         10.000              12.000          8.000         10.000          2.000

SUMMARY time (in ms/op): (of 3 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   File removal                    1.000          1.000          1.000          0.000
-- finished at 01/01/2024 00:01:00 --
"""

IO500 = """\
IO500 version io500-sc23 (standard)
[RESULT]       ior-easy-write        2.000000 GiB/s : time 300.000 seconds
[RESULT]    mdtest-easy-write       10.500000 kIOPS : time 300.000 seconds
[      ]            timestamp        0.000000 kIOPS : time 0.000 seconds
[RESULT]       ior-hard-write        0.500000 GiB/s : time 120.000 seconds [INVALID]
[RESULT]        ior-hard-read        0.250000 GiB/s : time 120.000 seconds
[      ]  ior-rnd4K-easy-read        0.125000 GiB/s : time 14.334 seconds
[SCORE ] Bandwidth 1.000000 GiB/s : IOPS 10.500000 kiops : TOTAL 3.240370 [INVALID]
"""

FIO = """\
{"fio version": "fio-3.33",
 "global options": {"ioengine": "libaio", "iodepth": "8", "direct": "1"},
 "jobs": [
  {"jobname": "w", "groupid": 0, "error": 0, "job options": {"rw": "write", "bs": "1m"},
   "write": {"io_bytes": 1048576000, "bw_bytes": 200000000, "total_ios": 1000,
             "clat_ns": {"N": 1000, "percentile": {"50.000000": 40000000}}}},
  {"jobname": "r", "groupid": 1, "error": 0, "job options": {"rw": "randread", "bs": "4k"},
   "read": {"io_bytes": 4096000, "bw_bytes": 1000000, "total_ios": 1000,
            "clat_ns": {"N": 1000, "percentile": {"50.000000": 30000000}}}}
 ]}
"""

_ELBENCHO_HEAD = (
    "ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct IO,random,"
    "random aligned,IO depth,shared paths,truncate,operation,time ms [first],time ms [last],"
    "entries/s [first],entries/s [last],IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],"
    "CPU% [first],CPU% [last],entries [first],entries [last],MiB [first],MiB [last],"
    "rwmix read MiB/s [last],version,command\n"
)
ELBENCHO_CSV = _ELBENCHO_HEAD + (
    "2024-01-01T00:00:00.000+0000,,dir,1,2,4,1,8,1048576,131072,1,0,,16,1,0,MKDIRS,1,2,90,80,,,,,"
    '5,5,8,8,,,,3.1-1,"elbencho" "-w" "/mnt" \n'
    "2024-01-01T00:00:00.000+0000,,dir,1,2,4,1,8,1048576,4096,1,1,1,16,1,0,WRITE,1,2,90,80,1000,900,"
    '3,3,5,5,8,8,64,64,,3.1-1,"elbencho" "-w" "/mnt" \n'
    "2024-01-01T00:00:00.000+0000,,blockdev,1,1,4,,,1048576,1048576,1,0,,0,,,READ,1,2,,,700,650,"
    '700,650,5,5,,,64,64,,3.1-1,"elbencho" "-r" "/dev/sdb" \n'
)
ELBENCHO_JSON = """\
{"phase_type":"WRITE","phase_id":"x","config":{"path_type":"file","paths":"1","hosts":"2","threads":"4","file_size":"1048576","block_size":"131072","direct_io":"true","random_offsets":"false","io_depth":"16","version":"3.1-1"},"first_done":{"elapsed_time_ms":"1","bytes\\/s":"400000000"},"last_done":{"elapsed_time_ms":"2","iops":"3000","bytes\\/s":"393216000"}}
{"phase_type":"STAT","phase_id":"y","config":{"path_type":"dir","hosts":"2","threads":"4","block_size":"131072","random_offsets":"false","io_depth":"16"},"first_done":{},"last_done":{"entries\\/s":"5000"}}
"""

TEXTS: dict[str, str] = {
    name.lower().replace("_", "-"): text
    for name, text in list(globals().items())
    if name.isupper() and not name.startswith("_")
}
"""Each text by its name: `fair-lio` is `FAIR_LIO`."""
