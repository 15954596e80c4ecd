-- A set moves 8 x 129 MB/s less what a disk takes beside the bytes of its eighth, and the couplet passes 35.4 GB/s with parity, so 8/10 of that of clients.
CREATE TABLE runs AS
WITH sized AS (
  SELECT *, "traffic.request_size" AS transfer, throughput_bytes_per_second AS rate, "cluster.parts.4.device" = 'in sequence' AS in_sequence,
    CASE WHEN in_sequence THEN 29.67e-6 ELSE 13.66e-3 END AS beside
  FROM results.runs
)
SELECT *, least(35.4e9 * 8 / 10, 56 * transfer / (beside + transfer / (8 * 129e6))) AS closed_form,
  max(rate) OVER (PARTITION BY in_sequence) AS best, beside / (56 / (35.4e9 * 8 / 10) - 1 / (8 * 129e6)) AS bend
FROM sized;
