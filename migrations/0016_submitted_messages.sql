CREATE TABLE `message_pieces` (
	`message_seq` integer NOT NULL,
	`position` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`message_seq`, `position`),
	FOREIGN KEY (`message_seq`) REFERENCES `messages`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `messages` ADD `message_id` text;--> statement-breakpoint
CREATE TRIGGER `usage_of_message_pieces_bytes` AFTER UPDATE OF bytes ON message_pieces WHEN coalesce(octet_length(new.bytes), 0) <> coalesce(octet_length(old.bytes), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.bytes), 0) - coalesce(octet_length(old.bytes), 0) WHERE project_seq = (SELECT project_seq FROM messages WHERE seq = new.message_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_message_pieces_cascade` BEFORE DELETE ON messages BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(20 + coalesce(octet_length(r.bytes), 0)), 0) FROM message_pieces r WHERE r.message_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_message_pieces_out` AFTER DELETE ON message_pieces BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (20 + coalesce(octet_length(old.bytes), 0)) WHERE project_seq = (SELECT project_seq FROM messages WHERE seq = old.message_seq);
END;
