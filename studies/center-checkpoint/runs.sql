-- A writer has 75 % of 600 TB over 2,016 groups; the checkpoint ends with its last writer.
CREATE TABLE runs AS
WITH slowest AS (SELECT run, min(least_bytes_per_second) AS least FROM flows GROUP BY run)
SELECT *, throughput_bytes_per_second / 56 AS mean_group, 0.75 * 600e12 / 2016 / least AS seconds,
  json_array_length(system->'$.faults') > 0 AS is_slow
FROM results.runs JOIN slowest USING (run);
