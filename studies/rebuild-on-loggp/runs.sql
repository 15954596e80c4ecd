CREATE TABLE runs AS
SELECT *,
  CASE system->>'$.traffic.outstanding' WHEN '1' THEN 'one request at a time'
    ELSE system->>'$.traffic.outstanding' || ' requests at a time' END AS clients
FROM results.runs;
