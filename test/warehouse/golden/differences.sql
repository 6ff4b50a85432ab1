-- spark, beside postgres
    COALESCE(TRIM(TRANSLATE(CAST(r.`Site latitude` AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text
    CASE WHEN perilbook_lat_text RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN CAST(perilbook_lat_text AS DOUBLE) END AS perilbook_lat,
    CASE WHEN perilbook_lat_text RLIKE '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN CAST(perilbook_lat_text AS DOUBLE) END AS perilbook_lat
        WHEN perilbook_lat_text RLIKE '^[+-]?[0-9]{1,3},[0-9]+$' THEN 'decimal_comma'
        WHEN perilbook_lat_text RLIKE '^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$' AND perilbook_lat_text RLIKE '^.*[0-9].*$' AND NOT (perilbook_lat_text RLIKE '^.*[.].*[.].*$') THEN 'degree_symbol'
        WHEN perilbook_lat_text RLIKE '^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([\'\u2019\u2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\u201d\u2033sS]|\'\')?)?)?[ ]*[NSEWnsew]?$' THEN 'degrees_minutes_seconds'

-- bigquery, beside duckdb
  CAST(perilbook_lat7 AS FLOAT64) / CAST(1e7 AS FLOAT64) AS lat,
  CAST(perilbook_lat7 AS FLOAT64) / CAST(1e7 AS FLOAT64) AS lng,
  SUM(CAST(r.tiv AS FLOAT64)) AS weight
      WHEN ABS(perilbook_lat_scaled) < CAST(1e0 AS FLOAT64) THEN CAST(4.999999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e1 AS FLOAT64) THEN CAST(4.99999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e2 AS FLOAT64) THEN CAST(4.9999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e3 AS FLOAT64) THEN CAST(4.999999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e4 AS FLOAT64) THEN CAST(4.99999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e5 AS FLOAT64) THEN CAST(4.9999999995e-1 AS FLOAT64)
      WHEN ABS(perilbook_lat_scaled) < CAST(1e6 AS FLOAT64) THEN CAST(4.999999995e-1 AS FLOAT64)
      ELSE CAST(4.99999995e-1 AS FLOAT64) END THEN 1 ELSE 0 END AS INT64) * 1000 AS perilbook_lat7,
      ELSE CAST(4.99999995e-1 AS FLOAT64) END THEN 1 ELSE 0 END AS INT64) * 1000 AS perilbook_lat7
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS FLOAT64) END AS perilbook_lat_scaled,
    CASE WHEN perilbook_finding IS NULL OR perilbook_finding IN ('swapped', 'sign_lost') THEN perilbook_lat * CAST(1e4 AS FLOAT64) END AS perilbook_lat_scaled
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_CONTAINS(perilbook_lat_text, '^.*[0-9].*$') AND NOT (REGEXP_CONTAINS(perilbook_lat_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([\'\u2019\u2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\u201d\u2033sS]|\'\')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
    CASE WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(SAFE_CAST(perilbook_lat_text AS FLOAT64), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat,
    CASE WHEN REGEXP_CONTAINS(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(SAFE_CAST(perilbook_lat_text AS FLOAT64), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat
    COALESCE(TRIM(TRANSLATE(CAST(r.`Site latitude` AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS STRING), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text
SELECT r.* EXCEPT (perilbook_lat_text, perilbook_lat_text, perilbook_lat, perilbook_lat, perilbook_finding, perilbook_lat_scaled, perilbook_lat_scaled, perilbook_lat7, perilbook_lat7),
    CAST(FLOOR(CAST(answers.lat AS FLOAT64) * CAST(10000000 AS FLOAT64) + CAST(5e-1 AS FLOAT64)) AS INT64) AS perilbook_answer_lat7,
    CAST(FLOOR(CAST(answers.lng AS FLOAT64) * CAST(10000000 AS FLOAT64) + CAST(5e-1 AS FLOAT64)) AS INT64) AS perilbook_answer_lat7

-- snowflake, beside duckdb
        WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_LIKE(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_LIKE(perilbook_lat_text, '^.*[0-9].*$') AND NOT (REGEXP_LIKE(perilbook_lat_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_LIKE(perilbook_lat_text, '^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\u00b0|\u00ba|\u02da|\ufffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([\'\u2019\u2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\u201d\u2033sS]|\'\')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
    CASE WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_TO_DOUBLE(perilbook_lat_text), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat,
    CASE WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_TO_DOUBLE(perilbook_lat_text), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat
    COALESCE(TRIM(TRANSLATE(CAST(r."Site latitude" AS VARCHAR), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS VARCHAR), '\u0009\u000a\u000b\u000c\u000d\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff', '                        ')), '') AS perilbook_lat_text

-- trino, beside postgres
    COALESCE(TRIM(TRANSLATE(CAST(r."Site latitude" AS VARCHAR), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lat_text,
    COALESCE(TRIM(TRANSLATE(CAST(r.lon AS VARCHAR), U&'\0009\000a\000b\000c\000d\00a0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200a\2028\2029\202f\205f\3000\feff', '                        ')), '') AS perilbook_lat_text
    CASE WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_CAST(perilbook_lat_text AS DOUBLE), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat,
    CASE WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN COALESCE(TRY_CAST(perilbook_lat_text AS DOUBLE), CASE WHEN LOWER(perilbook_lat_text) LIKE '%e-%' THEN 0e0 ELSE 1e300 END) END AS perilbook_lat
        WHEN REGEXP_LIKE(perilbook_lat_text, '^[+-]?[0-9]{1,3},[0-9]+$') THEN 'decimal_comma'
        WHEN REGEXP_LIKE(perilbook_lat_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9.]+[ ]*(\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)?[ ]*[NSEWnsew]?$') AND REGEXP_LIKE(perilbook_lat_text, '^.*[0-9].*$') AND NOT (REGEXP_LIKE(perilbook_lat_text, '^.*[.].*[.].*$')) THEN 'degree_symbol'
        WHEN REGEXP_LIKE(perilbook_lat_text, U&'^[NSEWnsew]?[ ]*[+-]?[0-9]{1,3}[ ]*((\00b0|\00ba|\02da|\fffd|[dD][eE][gG][.]?)|[dD: -])[ ]*([0-9]{1,2}([.][0-9]+)?)[ ]*([''\2019\2032mM: -][ ]*([0-9]{1,2}([.][0-9]+)?[ ]*(["\201d\2033sS]|'''')?)?)?[ ]*[NSEWnsew]?$') THEN 'degrees_minutes_seconds'
