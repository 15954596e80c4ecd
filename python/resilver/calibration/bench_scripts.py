"""The files of a plan's folder that other programs run: fio's jobs, IOR's and obdfilter-survey's.

Sources: fio's manual, "HOWTO", "Job file parameters"; IOR's user guide, "Options"; the variables at
the head of lustre-iokit/obdfilter-survey; for its records, objects, threads and size
run_obdfilter_survey.sh of the OLCF's benchmarks.
"""

from __future__ import annotations

from resilver.calibration.bench_plan import Plan

_FIO_HEAD = """\
# {count} tests, {hours:.2g} h. Each stands alone by its stonewall, and fio rests between none, as
# `resilver bench run` does. They destroy what TARGET holds:
#   TARGET=/dev/sdX SIZE=64g fio block.fio --output-format=json --output=results.json
# Then: resilver import benchmark results.json
# Write the space once before, since what was never written reads as zeros:
#   fio --name=fill --filename=$TARGET --size=$SIZE --rw=write --bs=1m --direct=1

[global]
filename=${{TARGET}}
size=${{SIZE}}
ioengine=libaio
direct=1
time_based
runtime={seconds:g}
stonewall
"""

_IOR = """\
#!/bin/bash
# What clients get of the file system, at the sizes of the plan. As a job of all clients:
#   TASKS=1024 FILE=/scratch/ior/file ./ior.sh
# Then: resilver import benchmark ior.txt
set -eu
: "${{TASKS:?how many processes}}" "${{FILE:?where the files go}}"
LAUNCH=${{LAUNCH:-mpirun -np $TASKS}}
SECONDS_EACH=${{SECONDS_EACH:-{seconds:.0f}}}
BLOCK=${{BLOCK:-16g}}
AFTER="-O stoneWallingStatusFile=$FILE.stonewall -o $FILE"
for size in {sizes}; do
  for order in "" -z; do
    # One file a process; what one wrote another reads, so that no cache answers.
    $LAUNCH ior -a POSIX -F -C -e -g -k -w -D "$SECONDS_EACH" -t "$size" -b "$BLOCK" $order \\
      -O stoneWallingWearOut=1 $AFTER | tee -a ior.txt
    $LAUNCH ior -a POSIX -F -C -e -g -r -t "$size" -b "$BLOCK" $order $AFTER | tee -a ior.txt
  done
done
"""

OBDFILTER_SCRIPT = """\
#!/bin/bash
# What a server's targets move without clients. On a server of Lustre, as root:
#   OSTS="scratch-OST0000 scratch-OST0001" CACHE_MB=131072 ./obdfilter.sh
# Then: resilver import benchmark obdfilter/*.summary
set -eu
: "${OSTS:?the targets of this server}" "${CACHE_MB:?the memory of its controllers}"
# Eight times the cache, dealt over the targets, up to a power of two.
wanted=$(( CACHE_MB * 8 / $(wc -w <<< "$OSTS") ))
size=1
while [ "$size" -lt "$wanted" ]; do size=$(( size * 2 )); done
mkdir -p obdfilter
export OSTS size thrhi=16 case=disk tests_str="write rewrite read"
for record in 8 128 1024; do
  for objects in 1 4 16; do
    rszlo=$record rszhi=$record nobjlo=$objects nobjhi=$objects thrlo=$objects \\
      rslt="obdfilter/$record-$objects" obdfilter-survey
  done
done
"""
"""What runs obdfilter-survey as the OLCF's benchmarks do."""


def fio_jobs(plan: Plan) -> str:
    """A plan as a job file of fio."""
    hours = len(plan.tests) * plan.seconds / 3600.0
    head = _FIO_HEAD.format(count=len(plan.tests), hours=hours, seconds=plan.seconds)
    jobs = [
        f"\n[{test.name}]\nrw={test.mode}\nbs={test.request_bytes}\niodepth={test.queue}\n"
        for test in plan.tests
    ]
    return head + "".join(jobs)


def ior_script(plan: Plan) -> str:
    """A script that runs IOR at the sizes of a plan."""
    sizes = " ".join(map(str, sorted({test.request_bytes for test in plan.tests})))
    return _IOR.format(seconds=plan.seconds, sizes=sizes)
