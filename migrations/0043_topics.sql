CREATE TABLE `topic_subscriptions` (
	`topic_seq` integer NOT NULL,
	`contact_seq` integer NOT NULL,
	`is_subscribed` integer NOT NULL,
	`changed_at` integer NOT NULL,
	PRIMARY KEY(`topic_seq`, `contact_seq`),
	FOREIGN KEY (`topic_seq`) REFERENCES `topics`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`contact_seq`) REFERENCES `contacts`(`seq`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `topic_subscriptions_contact` ON `topic_subscriptions` (`contact_seq`);--> statement-breakpoint
CREATE TABLE `topics` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`key` text NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`default_state` text NOT NULL,
	`visibility` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `topics_id_unique` ON `topics` (`id`);--> statement-breakpoint
CREATE INDEX `topics_page` ON `topics` (`project_seq`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `topics_key` ON `topics` (`project_seq`,`key`);--> statement-breakpoint
ALTER TABLE `campaigns` ADD `topic_seq` integer REFERENCES topics(seq) ON DELETE set null;--> statement-breakpoint
CREATE INDEX `campaigns_topic` ON `campaigns` (`topic_seq`) WHERE topic_seq IS NOT NULL;--> statement-breakpoint
ALTER TABLE `contacts` ADD `paused_until` integer;--> statement-breakpoint
CREATE INDEX `contacts_paused` ON `contacts` (`project_seq`,`paused_until`) WHERE paused_until IS NOT NULL;--> statement-breakpoint
ALTER TABLE `messages` ADD `topic_seq` integer;--> statement-breakpoint
ALTER TABLE `template_versions` ADD `topic_id` text;--> statement-breakpoint
ALTER TABLE `templates` ADD `topic_seq` integer REFERENCES topics(seq);--> statement-breakpoint
CREATE INDEX `templates_topic` ON `templates` (`topic_seq`) WHERE topic_seq IS NOT NULL;--> statement-breakpoint
CREATE TRIGGER `usage_of_topic_subscriptions_cascade` BEFORE DELETE ON topics BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(40), 0) FROM topic_subscriptions r WHERE r.topic_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_topic_subscriptions_in` AFTER INSERT ON topic_subscriptions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (40) WHERE project_seq = (SELECT project_seq FROM topics WHERE seq = new.topic_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_topic_subscriptions_out` AFTER DELETE ON topic_subscriptions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (40) WHERE project_seq = (SELECT project_seq FROM topics WHERE seq = old.topic_seq);
END;
