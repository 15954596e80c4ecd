CREATE TABLE runs AS
SELECT *,
  CASE system->>'$.traffic.outstanding' WHEN '1' THEN 'one request at a time'
    ELSE system->>'$.traffic.outstanding' || ' requests at a time' END AS clients,
  CASE WHEN faults LIKE '%8 links%' THEN 'and 8 links' WHEN faults LIKE '%1 link%' THEN 'and 1 link'
    WHEN faults LIKE '%switch.4%' THEN 'and a spine' ELSE 'a server alone' END AS fails
FROM results.runs;
