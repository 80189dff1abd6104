CREATE TABLE `ab_hold_outs` (
	`campaign_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	PRIMARY KEY(`campaign_seq`, `contact_seq`),
	FOREIGN KEY (`campaign_seq`) REFERENCES `campaigns`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `ab_hold_outs_contact` ON `ab_hold_outs` (`contact_seq`);--> statement-breakpoint
CREATE TABLE `ab_tests` (
	`campaign_seq` integer PRIMARY KEY NOT NULL,
	`share` integer NOT NULL,
	`hold_out` integer NOT NULL,
	`winner_by` text NOT NULL,
	`event_name` text,
	`after_minutes` integer NOT NULL,
	`phase` text,
	`waits_until` integer,
	`winner_id` text,
	`chosen_by` text,
	`decided_at` integer,
	FOREIGN KEY (`campaign_seq`) REFERENCES `campaigns`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `ab_tests_waiting` ON `ab_tests` (`waits_until`) WHERE phase = 'WAITING';--> statement-breakpoint
CREATE TABLE `ab_variants` (
	`campaign_seq` integer NOT NULL,
	`id` text NOT NULL,
	`name` text,
	`subject` text,
	`preheader` text,
	`from_address` text,
	`from_name` text,
	`reply_to` text,
	`body` text,
	`format` text DEFAULT 'CODE' NOT NULL,
	`design` text,
	`layout_id` text,
	`template_id` text,
	`message_seq` integer,
	`decided_sent` integer,
	`decided_hits` integer,
	PRIMARY KEY(`campaign_seq`, `id`),
	FOREIGN KEY (`campaign_seq`) REFERENCES `campaigns`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `emails` ADD `variant` text;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_hold_outs_cascade` BEFORE DELETE ON campaigns BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(30), 0) FROM ab_hold_outs r WHERE r.campaign_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_hold_outs_in` AFTER INSERT ON ab_hold_outs BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (30) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = new.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_hold_outs_out` AFTER DELETE ON ab_hold_outs BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (30) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = old.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_variants_body` AFTER UPDATE OF body ON ab_variants WHEN coalesce(octet_length(new.body), 0) <> coalesce(octet_length(old.body), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.body), 0) - coalesce(octet_length(old.body), 0) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = new.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_variants_cascade` BEFORE DELETE ON campaigns BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(200 + coalesce(octet_length(r.subject), 0) + coalesce(octet_length(r.body), 0) + coalesce(octet_length(r.design), 0)), 0) FROM ab_variants r WHERE r.campaign_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_variants_design` AFTER UPDATE OF design ON ab_variants WHEN coalesce(octet_length(new.design), 0) <> coalesce(octet_length(old.design), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.design), 0) - coalesce(octet_length(old.design), 0) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = new.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_variants_in` AFTER INSERT ON ab_variants BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.subject), 0) + coalesce(octet_length(new.body), 0) + coalesce(octet_length(new.design), 0)) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = new.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_variants_out` AFTER DELETE ON ab_variants BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.subject), 0) + coalesce(octet_length(old.body), 0) + coalesce(octet_length(old.design), 0)) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = old.campaign_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_ab_variants_subject` AFTER UPDATE OF subject ON ab_variants WHEN coalesce(octet_length(new.subject), 0) <> coalesce(octet_length(old.subject), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.subject), 0) - coalesce(octet_length(old.subject), 0) WHERE project_seq = (SELECT project_seq FROM campaigns WHERE seq = new.campaign_seq);
END;
