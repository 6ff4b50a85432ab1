-- 1. The distinct places of acme.book. Save them as CSV or Parquet and run: perilbook places FILE -o ANSWERS
SELECT
  CAST(perilbook_lat7 AS DOUBLE) / CAST(1e7 AS DOUBLE) AS lat,
  CAST(perilbook_lng7 AS DOUBLE) / CAST(1e7 AS DOUBLE) AS lng,
  SUM(CAST(r.tiv AS DOUBLE)) AS weight
FROM acme.book AS r
CROSS JOIN LATERAL (
  SELECT
    COALESCE(TRIM(TRANSLATE(CAST(r."Site latitude" AS VARCHAR), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS VARCHAR), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lng_text
) AS s1
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_CAST(perilbook_lat_text AS DOUBLE), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat,
    CASE WHEN REGEXP_LIKE(perilbook_lng_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_CAST(perilbook_lng_text AS DOUBLE), CASE WHEN LOWER(perilbook_lng_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lng
) AS s2
CROSS JOIN LATERAL (
  SELECT
    CASE
      WHEN perilbook_lat IS NULL THEN CASE
        WHEN perilbook_lat_text = '' THEN 'empty'
        WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_LIKE(perilbook_lat_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_LIKE(perilbook_lat_text, '^.*[0-9].*$') AND NOT (REGEXP_LIKE(perilbook_lat_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_LIKE(perilbook_lat_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lng IS NULL THEN CASE
        WHEN perilbook_lng_text = '' THEN 'empty'
        WHEN REGEXP_LIKE(perilbook_lng_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_LIKE(perilbook_lng_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_LIKE(perilbook_lng_text, '^.*[0-9].*$') AND NOT (REGEXP_LIKE(perilbook_lng_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_LIKE(perilbook_lng_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lat = 0 AND perilbook_lng = 0 THEN 'null_island'
      WHEN (perilbook_lat BETWEEN 24 AND 50 AND perilbook_lng BETWEEN -126 AND -66)
        OR (perilbook_lat BETWEEN 50 AND 72 AND perilbook_lng BETWEEN -180 AND -129)
        OR (perilbook_lat BETWEEN 50 AND 54 AND perilbook_lng BETWEEN 171 AND 180)
        OR (perilbook_lat BETWEEN 18 AND 29 AND perilbook_lng BETWEEN -179 AND -154)
        OR (perilbook_lat BETWEEN 17 AND 19 AND perilbook_lng BETWEEN -69 AND -64)
        OR (perilbook_lat BETWEEN 12 AND 21 AND perilbook_lng BETWEEN 144 AND 147)
        OR (perilbook_lat BETWEEN -15 AND -10 AND perilbook_lng BETWEEN -172 AND -167) THEN NULL
      WHEN (perilbook_lng BETWEEN 24 AND 50 AND perilbook_lat BETWEEN -126 AND -66)
        OR (perilbook_lng BETWEEN 50 AND 72 AND perilbook_lat BETWEEN -180 AND -129)
        OR (perilbook_lng BETWEEN 50 AND 54 AND perilbook_lat BETWEEN 171 AND 180)
        OR (perilbook_lng BETWEEN 18 AND 29 AND perilbook_lat BETWEEN -179 AND -154)
        OR (perilbook_lng BETWEEN 17 AND 19 AND perilbook_lat BETWEEN -69 AND -64)
        OR (perilbook_lng BETWEEN 12 AND 21 AND perilbook_lat BETWEEN 144 AND 147)
        OR (perilbook_lng BETWEEN -15 AND -10 AND perilbook_lat BETWEEN -172 AND -167) THEN 'swapped'
      WHEN (perilbook_lat BETWEEN 24 AND 50 AND -perilbook_lng BETWEEN -126 AND -66)
        OR (perilbook_lat BETWEEN 50 AND 72 AND -perilbook_lng BETWEEN -180 AND -129)
        OR (perilbook_lat BETWEEN 50 AND 54 AND -perilbook_lng BETWEEN 171 AND 180)
        OR (perilbook_lat BETWEEN 18 AND 29 AND -perilbook_lng BETWEEN -179 AND -154)
        OR (perilbook_lat BETWEEN 17 AND 19 AND -perilbook_lng BETWEEN -69 AND -64)
        OR (perilbook_lat BETWEEN 12 AND 21 AND -perilbook_lng BETWEEN 144 AND 147)
        OR (perilbook_lat BETWEEN -15 AND -10 AND -perilbook_lng BETWEEN -172 AND -167) THEN 'sign_lost'
      WHEN ABS(perilbook_lat) <= 90 AND ABS(perilbook_lng) <= 180 THEN 'outside_us'
      ELSE 'out_of_range'
    END AS perilbook_finding
) AS s3
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS DOUBLE) END AS perilbook_lat_scaled,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lng * CAST(1e4 AS DOUBLE) END AS perilbook_lng_scaled
) AS s4
CROSS JOIN LATERAL (
  SELECT
    CAST(FLOOR(perilbook_lat_scaled) + CASE WHEN perilbook_lat_scaled - FLOOR(perilbook_lat_scaled) >= CASE
      WHEN ABS(perilbook_lat_scaled) < CAST(1e0 AS DOUBLE) THEN CAST(4.999999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e1 AS DOUBLE) THEN CAST(4.99999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e2 AS DOUBLE) THEN CAST(4.9999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e3 AS DOUBLE) THEN CAST(4.999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e4 AS DOUBLE) THEN CAST(4.99999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e5 AS DOUBLE) THEN CAST(4.9999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e6 AS DOUBLE) THEN CAST(4.999999995e-1 AS DOUBLE)
      ELSE CAST(4.99999995e-1 AS DOUBLE) END THEN 1 ELSE 0 END AS BIGINT) * 1000 AS perilbook_lat7,
    CAST(FLOOR(perilbook_lng_scaled) + CASE WHEN perilbook_lng_scaled - FLOOR(perilbook_lng_scaled) >= CASE
      WHEN ABS(perilbook_lng_scaled) < CAST(1e0 AS DOUBLE) THEN CAST(4.999999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e1 AS DOUBLE) THEN CAST(4.99999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e2 AS DOUBLE) THEN CAST(4.9999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e3 AS DOUBLE) THEN CAST(4.999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e4 AS DOUBLE) THEN CAST(4.99999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e5 AS DOUBLE) THEN CAST(4.9999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e6 AS DOUBLE) THEN CAST(4.999999995e-1 AS DOUBLE)
      ELSE CAST(4.99999995e-1 AS DOUBLE) END THEN 1 ELSE 0 END AS BIGINT) * 1000 AS perilbook_lng7
) AS s5
WHERE perilbook_lat7 IS NOT NULL
GROUP BY perilbook_lat7, perilbook_lng7;

-- 2. acme.book with the columns that perilbook run adds. Load ANSWERS as the table answers first.
SELECT r.*,
  CASE
    WHEN a.hazard_status IS NOT NULL THEN a.hazard_status
    WHEN perilbook_finding IS NULL THEN 'deferred'
    WHEN perilbook_finding = 'outside_us' THEN 'outside_us'
    ELSE 'invalid'
  END AS hz_hazard_status,
  CASE
    WHEN a.hazard_status IS NOT NULL THEN a.hazard_note
    ELSE CASE COALESCE(perilbook_finding, '')
      WHEN 'empty' THEN 'Latitude or longitude is empty.'
      WHEN 'not_a_number' THEN 'Latitude or longitude is not a number.'
      WHEN 'degrees_minutes_seconds' THEN 'Latitude or longitude is in degrees, minutes and seconds: decimal degrees are needed.'
      WHEN 'decimal_comma' THEN 'Latitude or longitude has a decimal comma: a decimal point is needed.'
      WHEN 'degree_symbol' THEN 'Latitude or longitude has a degree sign or a compass letter: a plain signed number is needed.'
      WHEN 'out_of_range' THEN 'Latitude is beyond 90 or longitude beyond 180 degrees: projected coordinates (metres, feet) must be converted to degrees.'
      WHEN 'null_island' THEN 'Latitude and longitude are both 0, which stands for a missing place.'
      WHEN 'swapped' THEN 'Latitude and longitude seem exchanged: the other way round the place is in the US.'
      WHEN 'sign_lost' THEN 'The sign of the longitude seems lost: with the other sign the place is in the US.'
      WHEN 'outside_us' THEN 'The place is outside the US.'
      ELSE 'not bought yet'
    END
  END AS hz_hazard_note,
  a.hazard_as_of AS hz_hazard_as_of,
  a.wildfire_rating AS hz_wildfire_rating,
  a.wildfire_score AS hz_wildfire_score,
  a.wildfire_frequency AS hz_wildfire_frequency,
  a.wildfire_current AS hz_wildfire_current,
  a.wildfire_historical AS hz_wildfire_historical,
  a.wildfire_perimeters AS hz_wildfire_perimeters
FROM acme.book AS r
CROSS JOIN LATERAL (
  SELECT
    COALESCE(TRIM(TRANSLATE(CAST(r."Site latitude" AS VARCHAR), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS VARCHAR), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lng_text
) AS s1
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_CAST(perilbook_lat_text AS DOUBLE), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat,
    CASE WHEN REGEXP_LIKE(perilbook_lng_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_CAST(perilbook_lng_text AS DOUBLE), CASE WHEN LOWER(perilbook_lng_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lng
) AS s2
CROSS JOIN LATERAL (
  SELECT
    CASE
      WHEN perilbook_lat IS NULL THEN CASE
        WHEN perilbook_lat_text = '' THEN 'empty'
        WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_LIKE(perilbook_lat_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_LIKE(perilbook_lat_text, '^.*[0-9].*$') AND NOT (REGEXP_LIKE(perilbook_lat_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_LIKE(perilbook_lat_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lng IS NULL THEN CASE
        WHEN perilbook_lng_text = '' THEN 'empty'
        WHEN REGEXP_LIKE(perilbook_lng_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_LIKE(perilbook_lng_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_LIKE(perilbook_lng_text, '^.*[0-9].*$') AND NOT (REGEXP_LIKE(perilbook_lng_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_LIKE(perilbook_lng_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lat = 0 AND perilbook_lng = 0 THEN 'null_island'
      WHEN (perilbook_lat BETWEEN 24 AND 50 AND perilbook_lng BETWEEN -126 AND -66)
        OR (perilbook_lat BETWEEN 50 AND 72 AND perilbook_lng BETWEEN -180 AND -129)
        OR (perilbook_lat BETWEEN 50 AND 54 AND perilbook_lng BETWEEN 171 AND 180)
        OR (perilbook_lat BETWEEN 18 AND 29 AND perilbook_lng BETWEEN -179 AND -154)
        OR (perilbook_lat BETWEEN 17 AND 19 AND perilbook_lng BETWEEN -69 AND -64)
        OR (perilbook_lat BETWEEN 12 AND 21 AND perilbook_lng BETWEEN 144 AND 147)
        OR (perilbook_lat BETWEEN -15 AND -10 AND perilbook_lng BETWEEN -172 AND -167) THEN NULL
      WHEN (perilbook_lng BETWEEN 24 AND 50 AND perilbook_lat BETWEEN -126 AND -66)
        OR (perilbook_lng BETWEEN 50 AND 72 AND perilbook_lat BETWEEN -180 AND -129)
        OR (perilbook_lng BETWEEN 50 AND 54 AND perilbook_lat BETWEEN 171 AND 180)
        OR (perilbook_lng BETWEEN 18 AND 29 AND perilbook_lat BETWEEN -179 AND -154)
        OR (perilbook_lng BETWEEN 17 AND 19 AND perilbook_lat BETWEEN -69 AND -64)
        OR (perilbook_lng BETWEEN 12 AND 21 AND perilbook_lat BETWEEN 144 AND 147)
        OR (perilbook_lng BETWEEN -15 AND -10 AND perilbook_lat BETWEEN -172 AND -167) THEN 'swapped'
      WHEN (perilbook_lat BETWEEN 24 AND 50 AND -perilbook_lng BETWEEN -126 AND -66)
        OR (perilbook_lat BETWEEN 50 AND 72 AND -perilbook_lng BETWEEN -180 AND -129)
        OR (perilbook_lat BETWEEN 50 AND 54 AND -perilbook_lng BETWEEN 171 AND 180)
        OR (perilbook_lat BETWEEN 18 AND 29 AND -perilbook_lng BETWEEN -179 AND -154)
        OR (perilbook_lat BETWEEN 17 AND 19 AND -perilbook_lng BETWEEN -69 AND -64)
        OR (perilbook_lat BETWEEN 12 AND 21 AND -perilbook_lng BETWEEN 144 AND 147)
        OR (perilbook_lat BETWEEN -15 AND -10 AND -perilbook_lng BETWEEN -172 AND -167) THEN 'sign_lost'
      WHEN ABS(perilbook_lat) <= 90 AND ABS(perilbook_lng) <= 180 THEN 'outside_us'
      ELSE 'out_of_range'
    END AS perilbook_finding
) AS s3
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS DOUBLE) END AS perilbook_lat_scaled,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lng * CAST(1e4 AS DOUBLE) END AS perilbook_lng_scaled
) AS s4
CROSS JOIN LATERAL (
  SELECT
    CAST(FLOOR(perilbook_lat_scaled) + CASE WHEN perilbook_lat_scaled - FLOOR(perilbook_lat_scaled) >= CASE
      WHEN ABS(perilbook_lat_scaled) < CAST(1e0 AS DOUBLE) THEN CAST(4.999999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e1 AS DOUBLE) THEN CAST(4.99999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e2 AS DOUBLE) THEN CAST(4.9999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e3 AS DOUBLE) THEN CAST(4.999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e4 AS DOUBLE) THEN CAST(4.99999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e5 AS DOUBLE) THEN CAST(4.9999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e6 AS DOUBLE) THEN CAST(4.999999995e-1 AS DOUBLE)
      ELSE CAST(4.99999995e-1 AS DOUBLE) END THEN 1 ELSE 0 END AS BIGINT) * 1000 AS perilbook_lat7,
    CAST(FLOOR(perilbook_lng_scaled) + CASE WHEN perilbook_lng_scaled - FLOOR(perilbook_lng_scaled) >= CASE
      WHEN ABS(perilbook_lng_scaled) < CAST(1e0 AS DOUBLE) THEN CAST(4.999999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e1 AS DOUBLE) THEN CAST(4.99999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e2 AS DOUBLE) THEN CAST(4.9999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e3 AS DOUBLE) THEN CAST(4.999999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e4 AS DOUBLE) THEN CAST(4.99999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e5 AS DOUBLE) THEN CAST(4.9999999995e-1 AS DOUBLE)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e6 AS DOUBLE) THEN CAST(4.999999995e-1 AS DOUBLE)
      ELSE CAST(4.99999995e-1 AS DOUBLE) END THEN 1 ELSE 0 END AS BIGINT) * 1000 AS perilbook_lng7
) AS s5
LEFT JOIN (
  SELECT answers.*,
    CAST(FLOOR(CAST(answers.lat AS DOUBLE) * CAST(10000000 AS DOUBLE) + CAST(5e-1 AS DOUBLE)) AS BIGINT) AS perilbook_answer_lat7,
    CAST(FLOOR(CAST(answers.lng AS DOUBLE) * CAST(10000000 AS DOUBLE) + CAST(5e-1 AS DOUBLE)) AS BIGINT) AS perilbook_answer_lng7
  FROM answers AS answers
) AS a ON a.perilbook_answer_lat7 = perilbook_lat7 AND a.perilbook_answer_lng7 = perilbook_lng7;
