-- Each row that a trigger adds is a segment of the index of its own. The program adds the rows of
-- many messages together (src/modules/inboxes/search/index-rows.ts).
DROP TRIGGER `inbox_search_in`;--> statement-breakpoint
DROP TRIGGER `inbox_search_out`;--> statement-breakpoint
DROP INDEX `inbox_messages_state`;--> statement-breakpoint
CREATE INDEX `inbox_messages_waiting` ON `inbox_messages` (`state`,`seq`) WHERE state = 'ARRIVING' OR state = 'RECEIVED';
