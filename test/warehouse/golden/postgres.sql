-- 1. The distinct places of acme.book. Save them as CSV or Parquet and run: perilbook places FILE -o ANSWERS
SELECT
  CAST(perilbook_lat7 AS double precision) / CAST(1e7 AS double precision) AS lat,
  CAST(perilbook_lng7 AS double precision) / CAST(1e7 AS double precision) AS lng,
  SUM(CAST(r.tiv AS double precision)) AS weight
FROM acme.book AS r
CROSS JOIN LATERAL (
  SELECT
    COALESCE(TRIM(TRANSLATE(CAST(r."Site latitude" AS text), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS text), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lng_text
  OFFSET 0
) AS s1
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN perilbook_lat_text ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN CASE
    WHEN perilbook_lat_text !~ '^[^eE]*[1-9]' THEN 0
    WHEN perilbook_lat_text ~ '^[+-]?[0-9]{0,250}([.][0-9]*)?$' AND perilbook_lat_text !~ '[.]0{250}' OR (LENGTH(perilbook_lat_text) <= 200 AND perilbook_lat_text ~ '[eE][+-]?0*[0-9]{1,2}$') THEN CAST(perilbook_lat_text AS double precision)
    WHEN LENGTH(perilbook_lat_text) <= 4000 AND perilbook_lat_text !~ '[eE][+-]?0*[1-9][0-9]{4}' THEN
      CASE
        WHEN ABS(CAST(perilbook_lat_text AS numeric)) > 1000 THEN SIGN(CAST(perilbook_lat_text AS numeric)) * 1000
        WHEN ABS(CAST(perilbook_lat_text AS numeric)) < 1e-300 THEN SIGN(CAST(perilbook_lat_text AS numeric)) * CASE WHEN ABS(CAST(perilbook_lat_text AS numeric)) < 2.5e-324 THEN 0 ELSE 1e-300 END
        ELSE CAST(perilbook_lat_text AS numeric)
      END::double precision
    WHEN perilbook_lat_text ~ '[eE]-' THEN 0
    ELSE 1000
  END END AS perilbook_lat,
    CASE WHEN perilbook_lng_text ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN CASE
    WHEN perilbook_lng_text !~ '^[^eE]*[1-9]' THEN 0
    WHEN perilbook_lng_text ~ '^[+-]?[0-9]{0,250}([.][0-9]*)?$' AND perilbook_lng_text !~ '[.]0{250}' OR (LENGTH(perilbook_lng_text) <= 200 AND perilbook_lng_text ~ '[eE][+-]?0*[0-9]{1,2}$') THEN CAST(perilbook_lng_text AS double precision)
    WHEN LENGTH(perilbook_lng_text) <= 4000 AND perilbook_lng_text !~ '[eE][+-]?0*[1-9][0-9]{4}' THEN
      CASE
        WHEN ABS(CAST(perilbook_lng_text AS numeric)) > 1000 THEN SIGN(CAST(perilbook_lng_text AS numeric)) * 1000
        WHEN ABS(CAST(perilbook_lng_text AS numeric)) < 1e-300 THEN SIGN(CAST(perilbook_lng_text AS numeric)) * CASE WHEN ABS(CAST(perilbook_lng_text AS numeric)) < 2.5e-324 THEN 0 ELSE 1e-300 END
        ELSE CAST(perilbook_lng_text AS numeric)
      END::double precision
    WHEN perilbook_lng_text ~ '[eE]-' THEN 0
    ELSE 1000
  END END AS perilbook_lng
  OFFSET 0
) AS s2
CROSS JOIN LATERAL (
  SELECT
    CASE
      WHEN perilbook_lat IS NULL THEN CASE
        WHEN perilbook_lat_text = '' THEN 'empty'
        WHEN perilbook_lat_text ~ '^[+-]?[0-9]{1,3},[0-9]+$' THEN 'decimal_comma'
        WHEN perilbook_lat_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$' AND perilbook_lat_text ~ '^.*[0-9].*$' AND NOT (perilbook_lat_text ~ '^.*[.].*[.].*$') THEN 'degree_symbol'
        WHEN perilbook_lat_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$' THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lng IS NULL THEN CASE
        WHEN perilbook_lng_text = '' THEN 'empty'
        WHEN perilbook_lng_text ~ '^[+-]?[0-9]{1,3},[0-9]+$' THEN 'decimal_comma'
        WHEN perilbook_lng_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$' AND perilbook_lng_text ~ '^.*[0-9].*$' AND NOT (perilbook_lng_text ~ '^.*[.].*[.].*$') THEN 'degree_symbol'
        WHEN perilbook_lng_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$' THEN 'degrees_minutes_seconds'
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
  OFFSET 0
) AS s3
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS double precision) END AS perilbook_lat_scaled,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lng * CAST(1e4 AS double precision) END AS perilbook_lng_scaled
  OFFSET 0
) AS s4
CROSS JOIN LATERAL (
  SELECT
    CAST(FLOOR(perilbook_lat_scaled) + CASE WHEN perilbook_lat_scaled - FLOOR(perilbook_lat_scaled) >= CASE
      WHEN ABS(perilbook_lat_scaled) < CAST(1e0 AS double precision) THEN CAST(4.999999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e1 AS double precision) THEN CAST(4.99999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e2 AS double precision) THEN CAST(4.9999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e3 AS double precision) THEN CAST(4.999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e4 AS double precision) THEN CAST(4.99999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e5 AS double precision) THEN CAST(4.9999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e6 AS double precision) THEN CAST(4.999999995e-1 AS double precision)
      ELSE CAST(4.99999995e-1 AS double precision) END THEN 1 ELSE 0 END AS bigint) * 1000 AS perilbook_lat7,
    CAST(FLOOR(perilbook_lng_scaled) + CASE WHEN perilbook_lng_scaled - FLOOR(perilbook_lng_scaled) >= CASE
      WHEN ABS(perilbook_lng_scaled) < CAST(1e0 AS double precision) THEN CAST(4.999999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e1 AS double precision) THEN CAST(4.99999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e2 AS double precision) THEN CAST(4.9999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e3 AS double precision) THEN CAST(4.999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e4 AS double precision) THEN CAST(4.99999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e5 AS double precision) THEN CAST(4.9999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e6 AS double precision) THEN CAST(4.999999995e-1 AS double precision)
      ELSE CAST(4.99999995e-1 AS double precision) END THEN 1 ELSE 0 END AS bigint) * 1000 AS perilbook_lng7
  OFFSET 0
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
    COALESCE(TRIM(TRANSLATE(CAST(r."Site latitude" AS text), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS text), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lng_text
  OFFSET 0
) AS s1
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN perilbook_lat_text ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN CASE
    WHEN perilbook_lat_text !~ '^[^eE]*[1-9]' THEN 0
    WHEN perilbook_lat_text ~ '^[+-]?[0-9]{0,250}([.][0-9]*)?$' AND perilbook_lat_text !~ '[.]0{250}' OR (LENGTH(perilbook_lat_text) <= 200 AND perilbook_lat_text ~ '[eE][+-]?0*[0-9]{1,2}$') THEN CAST(perilbook_lat_text AS double precision)
    WHEN LENGTH(perilbook_lat_text) <= 4000 AND perilbook_lat_text !~ '[eE][+-]?0*[1-9][0-9]{4}' THEN
      CASE
        WHEN ABS(CAST(perilbook_lat_text AS numeric)) > 1000 THEN SIGN(CAST(perilbook_lat_text AS numeric)) * 1000
        WHEN ABS(CAST(perilbook_lat_text AS numeric)) < 1e-300 THEN SIGN(CAST(perilbook_lat_text AS numeric)) * CASE WHEN ABS(CAST(perilbook_lat_text AS numeric)) < 2.5e-324 THEN 0 ELSE 1e-300 END
        ELSE CAST(perilbook_lat_text AS numeric)
      END::double precision
    WHEN perilbook_lat_text ~ '[eE]-' THEN 0
    ELSE 1000
  END END AS perilbook_lat,
    CASE WHEN perilbook_lng_text ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN CASE
    WHEN perilbook_lng_text !~ '^[^eE]*[1-9]' THEN 0
    WHEN perilbook_lng_text ~ '^[+-]?[0-9]{0,250}([.][0-9]*)?$' AND perilbook_lng_text !~ '[.]0{250}' OR (LENGTH(perilbook_lng_text) <= 200 AND perilbook_lng_text ~ '[eE][+-]?0*[0-9]{1,2}$') THEN CAST(perilbook_lng_text AS double precision)
    WHEN LENGTH(perilbook_lng_text) <= 4000 AND perilbook_lng_text !~ '[eE][+-]?0*[1-9][0-9]{4}' THEN
      CASE
        WHEN ABS(CAST(perilbook_lng_text AS numeric)) > 1000 THEN SIGN(CAST(perilbook_lng_text AS numeric)) * 1000
        WHEN ABS(CAST(perilbook_lng_text AS numeric)) < 1e-300 THEN SIGN(CAST(perilbook_lng_text AS numeric)) * CASE WHEN ABS(CAST(perilbook_lng_text AS numeric)) < 2.5e-324 THEN 0 ELSE 1e-300 END
        ELSE CAST(perilbook_lng_text AS numeric)
      END::double precision
    WHEN perilbook_lng_text ~ '[eE]-' THEN 0
    ELSE 1000
  END END AS perilbook_lng
  OFFSET 0
) AS s2
CROSS JOIN LATERAL (
  SELECT
    CASE
      WHEN perilbook_lat IS NULL THEN CASE
        WHEN perilbook_lat_text = '' THEN 'empty'
        WHEN perilbook_lat_text ~ '^[+-]?[0-9]{1,3},[0-9]+$' THEN 'decimal_comma'
        WHEN perilbook_lat_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$' AND perilbook_lat_text ~ '^.*[0-9].*$' AND NOT (perilbook_lat_text ~ '^.*[.].*[.].*$') THEN 'degree_symbol'
        WHEN perilbook_lat_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$' THEN 'degrees_minutes_seconds'
        ELSE 'not_a_number'
      END
      WHEN perilbook_lng IS NULL THEN CASE
        WHEN perilbook_lng_text = '' THEN 'empty'
        WHEN perilbook_lng_text ~ '^[+-]?[0-9]{1,3},[0-9]+$' THEN 'decimal_comma'
        WHEN perilbook_lng_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$' AND perilbook_lng_text ~ '^.*[0-9].*$' AND NOT (perilbook_lng_text ~ '^.*[.].*[.].*$') THEN 'degree_symbol'
        WHEN perilbook_lng_text ~ U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$' THEN 'degrees_minutes_seconds'
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
  OFFSET 0
) AS s3
CROSS JOIN LATERAL (
  SELECT
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS double precision) END AS perilbook_lat_scaled,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lng * CAST(1e4 AS double precision) END AS perilbook_lng_scaled
  OFFSET 0
) AS s4
CROSS JOIN LATERAL (
  SELECT
    CAST(FLOOR(perilbook_lat_scaled) + CASE WHEN perilbook_lat_scaled - FLOOR(perilbook_lat_scaled) >= CASE
      WHEN ABS(perilbook_lat_scaled) < CAST(1e0 AS double precision) THEN CAST(4.999999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e1 AS double precision) THEN CAST(4.99999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e2 AS double precision) THEN CAST(4.9999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e3 AS double precision) THEN CAST(4.999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e4 AS double precision) THEN CAST(4.99999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e5 AS double precision) THEN CAST(4.9999999995e-1 AS double precision)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e6 AS double precision) THEN CAST(4.999999995e-1 AS double precision)
      ELSE CAST(4.99999995e-1 AS double precision) END THEN 1 ELSE 0 END AS bigint) * 1000 AS perilbook_lat7,
    CAST(FLOOR(perilbook_lng_scaled) + CASE WHEN perilbook_lng_scaled - FLOOR(perilbook_lng_scaled) >= CASE
      WHEN ABS(perilbook_lng_scaled) < CAST(1e0 AS double precision) THEN CAST(4.999999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e1 AS double precision) THEN CAST(4.99999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e2 AS double precision) THEN CAST(4.9999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e3 AS double precision) THEN CAST(4.999999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e4 AS double precision) THEN CAST(4.99999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e5 AS double precision) THEN CAST(4.9999999995e-1 AS double precision)
      WHEN ABS(perilbook_lng_scaled) < CAST(1e6 AS double precision) THEN CAST(4.999999995e-1 AS double precision)
      ELSE CAST(4.99999995e-1 AS double precision) END THEN 1 ELSE 0 END AS bigint) * 1000 AS perilbook_lng7
  OFFSET 0
) AS s5
LEFT JOIN (
  SELECT answers.*,
    CAST(FLOOR(CAST(answers.lat AS double precision) * CAST(10000000 AS double precision) + CAST(5e-1 AS double precision)) AS bigint) AS perilbook_answer_lat7,
    CAST(FLOOR(CAST(answers.lng AS double precision) * CAST(10000000 AS double precision) + CAST(5e-1 AS double precision)) AS bigint) AS perilbook_answer_lng7
  FROM answers AS answers
) AS a ON a.perilbook_answer_lat7 = perilbook_lat7 AND a.perilbook_answer_lng7 = perilbook_lng7;
