-- 1. The distinct places of acme.book. Save them as CSV or Parquet and run: perilbook places FILE -o ANSWERS
SELECT
  CAST(perilbook_lat7 AS FLOAT64) / CAST(1e7 AS FLOAT64) AS lat,
  CAST(perilbook_lng7 AS FLOAT64) / CAST(1e7 AS FLOAT64) AS lng,
  SUM(CAST(r.tiv AS FLOAT64)) AS weight
FROM (
  SELECT r.*,
    CAST(FLOOR(perilbook_lat_scaled) + CASE WHEN perilbook_lat_scaled - FLOOR(perilbook_lat_scaled) >= CASE
      WHEN ABS(perilbook_lat_scaled) < CAST(1e0 AS FLOAT64) THEN CAST(4.999999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e1 AS FLOAT64) THEN CAST(4.99999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e2 AS FLOAT64) THEN CAST(4.9999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e3 AS FLOAT64) THEN CAST(4.999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e4 AS FLOAT64) THEN CAST(4.99999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e5 AS FLOAT64) THEN CAST(4.9999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e6 AS FLOAT64) THEN CAST(4.999999995e-1 AS FLOAT64)
      ELSE CAST(4.99999995e-1 AS FLOAT64) END THEN 1 ELSE 0 END AS INT64) * 1000 AS perilbook_lat7,
    CAST(FLOOR(perilbook_lng_scaled) + CASE WHEN perilbook_lng_scaled - FLOOR(perilbook_lng_scaled) >= CASE
      WHEN ABS(perilbook_lng_scaled) < CAST(1e0 AS FLOAT64) THEN CAST(4.999999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e1 AS FLOAT64) THEN CAST(4.99999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e2 AS FLOAT64) THEN CAST(4.9999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e3 AS FLOAT64) THEN CAST(4.999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e4 AS FLOAT64) THEN CAST(4.99999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e5 AS FLOAT64) THEN CAST(4.9999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e6 AS FLOAT64) THEN CAST(4.999999995e-1 AS FLOAT64)
      ELSE CAST(4.99999995e-1 AS FLOAT64) END THEN 1 ELSE 0 END AS INT64) * 1000 AS perilbook_lng7
  FROM (
  SELECT r.*,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS FLOAT64) END AS perilbook_lat_scaled,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lng * CAST(1e4 AS FLOAT64) END AS perilbook_lng_scaled
  FROM (
  SELECT r.*,
    CASE
      WHEN perilbook_lat IS NULL THEN CASE
        WHEN perilbook_lat_text = '' THEN 'empty'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_CONTAINS(perilbook_lat_text, '^.*[0-9].*$') AND NOT (REGEXP_CONTAINS(perilbook_lat_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([\'\u2019\u2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\u201d\u2033sS]|\'\')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lng IS NULL THEN CASE
        WHEN perilbook_lng_text = '' THEN 'empty'
        WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_CONTAINS(perilbook_lng_text, '^.*[0-9].*$') AND NOT (REGEXP_CONTAINS(perilbook_lng_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([\'\u2019\u2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\u201d\u2033sS]|\'\')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
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
  FROM (
  SELECT r.*,
    CASE WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(SAFE_CAST(perilbook_lat_text AS FLOAT64), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat,
    CASE WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(SAFE_CAST(perilbook_lng_text AS FLOAT64), CASE WHEN LOWER(perilbook_lng_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lng
  FROM (
  SELECT r.*,
    COALESCE(TRIM(TRANSLATE(CAST(r.`Site latitude` AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lng_text
  FROM acme.book AS r
) AS r
) AS r
) AS r
) AS r
) AS r
WHERE perilbook_lat7 IS NOT NULL
GROUP BY perilbook_lat7, perilbook_lng7;

-- 2. acme.book with the columns that perilbook run adds. Load ANSWERS as the table answers first.
SELECT r.* EXCEPT (perilbook_lat_text, perilbook_lng_text, perilbook_lat, perilbook_lng, perilbook_finding, perilbook_lat_scaled, perilbook_lng_scaled, perilbook_lat7, perilbook_lng7),
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
FROM (
  SELECT r.*,
    CAST(FLOOR(perilbook_lat_scaled) + CASE WHEN perilbook_lat_scaled - FLOOR(perilbook_lat_scaled) >= CASE
      WHEN ABS(perilbook_lat_scaled) < CAST(1e0 AS FLOAT64) THEN CAST(4.999999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e1 AS FLOAT64) THEN CAST(4.99999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e2 AS FLOAT64) THEN CAST(4.9999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e3 AS FLOAT64) THEN CAST(4.999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e4 AS FLOAT64) THEN CAST(4.99999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e5 AS FLOAT64) THEN CAST(4.9999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e6 AS FLOAT64) THEN CAST(4.999999995e-1 AS FLOAT64)
      ELSE CAST(4.99999995e-1 AS FLOAT64) END THEN 1 ELSE 0 END AS INT64) * 1000 AS perilbook_lat7,
    CAST(FLOOR(perilbook_lng_scaled) + CASE WHEN perilbook_lng_scaled - FLOOR(perilbook_lng_scaled) >= CASE
      WHEN ABS(perilbook_lng_scaled) < CAST(1e0 AS FLOAT64) THEN CAST(4.999999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e1 AS FLOAT64) THEN CAST(4.99999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e2 AS FLOAT64) THEN CAST(4.9999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e3 AS FLOAT64) THEN CAST(4.999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e4 AS FLOAT64) THEN CAST(4.99999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e5 AS FLOAT64) THEN CAST(4.9999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e6 AS FLOAT64) THEN CAST(4.999999995e-1 AS FLOAT64)
      ELSE CAST(4.99999995e-1 AS FLOAT64) END THEN 1 ELSE 0 END AS INT64) * 1000 AS perilbook_lng7
  FROM (
  SELECT r.*,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS FLOAT64) END AS perilbook_lat_scaled,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lng * CAST(1e4 AS FLOAT64) END AS perilbook_lng_scaled
  FROM (
  SELECT r.*,
    CASE
      WHEN perilbook_lat IS NULL THEN CASE
        WHEN perilbook_lat_text = '' THEN 'empty'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_CONTAINS(perilbook_lat_text, '^.*[0-9].*$') AND NOT (REGEXP_CONTAINS(perilbook_lat_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([\'\u2019\u2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\u201d\u2033sS]|\'\')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lng IS NULL THEN CASE
        WHEN perilbook_lng_text = '' THEN 'empty'
        WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_CONTAINS(perilbook_lng_text, '^.*[0-9].*$') AND NOT (REGEXP_CONTAINS(perilbook_lng_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([\'\u2019\u2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\u201d\u2033sS]|\'\')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
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
  FROM (
  SELECT r.*,
    CASE WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(SAFE_CAST(perilbook_lat_text AS FLOAT64), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat,
    CASE WHEN REGEXP_CONTAINS(perilbook_lng_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(SAFE_CAST(perilbook_lng_text AS FLOAT64), CASE WHEN LOWER(perilbook_lng_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lng
  FROM (
  SELECT r.*,
    COALESCE(TRIM(TRANSLATE(CAST(r.`Site latitude` AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lng_text
  FROM acme.book AS r
) AS r
) AS r
) AS r
) AS r
) AS r
LEFT JOIN (
  SELECT answers.*,
    CAST(FLOOR(CAST(answers.lat AS FLOAT64) * CAST(10000000 AS FLOAT64) + CAST(5e-1 AS FLOAT64)) AS INT64) AS perilbook_answer_lat7,
    CAST(FLOOR(CAST(answers.lng AS FLOAT64) * CAST(10000000 AS FLOAT64) + CAST(5e-1 AS FLOAT64)) AS INT64) AS perilbook_answer_lng7
  FROM answers AS answers
) AS a ON a.perilbook_answer_lat7 = perilbook_lat7 AND a.perilbook_answer_lng7 = perilbook_lng7;
