DROP TRIGGER `usage_of_events_in`;
