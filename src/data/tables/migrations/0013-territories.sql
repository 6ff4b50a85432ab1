-- Of the whole US: the territories that the part covers, as a JSON list of two letters. An earlier version took all for covered.
ALTER TABLE parts ADD COLUMN territories TEXT NOT NULL DEFAULT '["AS","GU","MP","PR","VI"]';
