-- How objects are kept, how large they are, what clients ask for, and what a lane guarantees them.
CREATE TABLE runs AS
SELECT *,
  coalesce(
    MAP {'copies 3': 'three copies', 'rs 8+3': 'RS 8+3', 'lrc 8+5 local 4': 'LRC 8+5, local 4'}
      [system->>'$.redundancy.code'], system->>'$.redundancy.code') AS kept,
  (system->>'$.population.objects.chunk')::BIGINT // 1048576 || ' MiB' AS size,
  CASE WHEN system->>'$.traffic.streams.rate' IS NULL THEN 'all they can get' ELSE '6.4 GB/s asked for' END
    AS load,
  (system->>'$.lanes.shares[0]')::DOUBLE AS guaranteed
FROM results.runs;
