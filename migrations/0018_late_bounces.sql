CREATE TABLE `email_reports` (
	`seq` integer PRIMARY KEY NOT NULL,
	`email_seq` integer NOT NULL,
	`kind` text NOT NULL,
	`received_at` integer NOT NULL,
	`form` text NOT NULL,
	`class` text,
	`status_code` text,
	`reason` text NOT NULL,
	`reporting_mta` text,
	`excerpt` text NOT NULL,
	FOREIGN KEY (`email_seq`) REFERENCES `emails`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `email_reports_email` ON `email_reports` (`email_seq`,`kind`);--> statement-breakpoint
ALTER TABLE `campaign_counts` ADD `bounced_later` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `suppressions` ADD `email_seq` integer;--> statement-breakpoint
ALTER TABLE `suppressions` ADD `expires_at` integer;--> statement-breakpoint
CREATE INDEX `suppressions_expiry` ON `suppressions` (`expires_at`) WHERE expires_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `messages_message_id` ON `messages` (`message_id`) WHERE message_id IS NOT NULL;--> statement-breakpoint
-- The bytes that reports take count for the quota of the project (db/usage.ts).
CREATE TRIGGER `usage_of_email_reports_cascade` BEFORE DELETE ON emails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(150 + coalesce(octet_length(r.reason), 0) + coalesce(octet_length(r.excerpt), 0)), 0) FROM email_reports r WHERE r.email_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_email_reports_excerpt` AFTER UPDATE OF excerpt ON email_reports WHEN coalesce(octet_length(new.excerpt), 0) <> coalesce(octet_length(old.excerpt), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.excerpt), 0) - coalesce(octet_length(old.excerpt), 0) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = new.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_email_reports_in` AFTER INSERT ON email_reports BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (150 + coalesce(octet_length(new.reason), 0) + coalesce(octet_length(new.excerpt), 0)) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = new.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_email_reports_out` AFTER DELETE ON email_reports BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (150 + coalesce(octet_length(old.reason), 0) + coalesce(octet_length(old.excerpt), 0)) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = old.email_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_email_reports_reason` AFTER UPDATE OF reason ON email_reports WHEN coalesce(octet_length(new.reason), 0) <> coalesce(octet_length(old.reason), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.reason), 0) - coalesce(octet_length(old.reason), 0) WHERE project_seq = (SELECT project_seq FROM emails WHERE seq = new.email_seq);
END;
