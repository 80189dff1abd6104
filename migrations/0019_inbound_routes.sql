CREATE TABLE `inbound_routes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`address` text NOT NULL,
	`domain` text NOT NULL,
	`forward_to` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `inbound_routes_id_unique` ON `inbound_routes` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `inbound_routes_address_unique` ON `inbound_routes` (`address`);--> statement-breakpoint
CREATE INDEX `inbound_routes_page` ON `inbound_routes` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `inbound_routes_domain` ON `inbound_routes` (`domain`);--> statement-breakpoint
CREATE TABLE `received_mails` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`state` text NOT NULL,
	`received_at` integer NOT NULL,
	`size` integer NOT NULL,
	`sender` text DEFAULT '' NOT NULL,
	`content` text DEFAULT '{}' NOT NULL,
	`email_seq` integer,
	`contact_seq` integer,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`email_seq`) REFERENCES `emails`(`seq`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `received_mails_id_unique` ON `received_mails` (`id`);--> statement-breakpoint
CREATE INDEX `received_mails_page` ON `received_mails` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `received_mails_age` ON `received_mails` (`received_at`);--> statement-breakpoint
CREATE INDEX `received_mails_contact` ON `received_mails` (`contact_seq`) WHERE contact_seq IS NOT NULL;--> statement-breakpoint
CREATE INDEX `received_mails_email` ON `received_mails` (`email_seq`) WHERE email_seq IS NOT NULL;--> statement-breakpoint
CREATE INDEX `received_mails_arriving` ON `received_mails` (`state`) WHERE state = 'ARRIVING';--> statement-breakpoint
CREATE TABLE `received_pieces` (
	`mail_seq` integer NOT NULL,
	`position` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`mail_seq`, `position`),
	FOREIGN KEY (`mail_seq`) REFERENCES `received_mails`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
ALTER TABLE `messages` ADD `envelope_from` text;--> statement-breakpoint
-- The bytes that routes and received mails take count for the quota of the project (db/usage.ts).
CREATE TRIGGER `usage_of_inbound_routes_in` AFTER INSERT ON inbound_routes BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (300) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_inbound_routes_out` AFTER DELETE ON inbound_routes BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (300) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_mails_content` AFTER UPDATE OF content ON received_mails WHEN coalesce(octet_length(new.content), 0) <> coalesce(octet_length(old.content), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.content), 0) - coalesce(octet_length(old.content), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_mails_in` AFTER INSERT ON received_mails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.content), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_mails_out` AFTER DELETE ON received_mails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.content), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_bytes` AFTER UPDATE OF bytes ON received_pieces WHEN coalesce(octet_length(new.bytes), 0) <> coalesce(octet_length(old.bytes), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.bytes), 0) - coalesce(octet_length(old.bytes), 0) WHERE project_seq = (SELECT project_seq FROM received_mails WHERE seq = new.mail_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_cascade` BEFORE DELETE ON received_mails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(20 + coalesce(octet_length(r.bytes), 0)), 0) FROM received_pieces r WHERE r.mail_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_in` AFTER INSERT ON received_pieces BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (20 + coalesce(octet_length(new.bytes), 0)) WHERE project_seq = (SELECT project_seq FROM received_mails WHERE seq = new.mail_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_out` AFTER DELETE ON received_pieces BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (20 + coalesce(octet_length(old.bytes), 0)) WHERE project_seq = (SELECT project_seq FROM received_mails WHERE seq = old.mail_seq);
END;
