"""Where the runs of a study are performed: this machine, a Dask cluster, a batch system.

Every executor has the `concurrent.futures` interface and what a sweep needs beyond it; see
`StudyExecutor`. `choose` turns what a user says into one of them.
"""

from resilver.study.executors.batch import BatchJobs
from resilver.study.executors.choice import ExecutorChoice, choose
from resilver.study.executors.interface import ClusterLost, StudyExecutor
