-- A row a run and application: what it wrote before and during the outage, and of all requests those that nothing answers any more at the end.
CREATE TABLE runs AS
SELECT asked.application, "pools.1.traffic.outstanding" > 1 AS are_both_busy, "pools.1.placement.within" LIKE '%half.0%' AS is_one,
  CASE WHEN is_one THEN 'one namespace' ELSE 'two' END AS namespaces,
  pools.before_throughput_bytes_per_second AS before, pools.during_throughput_bytes_per_second AS during,
  requests_hanging / requests_outstanding AS hanging
FROM results.runs AS all_runs CROSS JOIN (VALUES ('a'), ('b')) AS asked(application)
  LEFT JOIN pools ON pools.run = all_runs.run AND pools.pool = asked.application;
