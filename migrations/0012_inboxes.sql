CREATE TABLE `inbox_messages` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`inbox_seq` integer NOT NULL,
	`state` text NOT NULL,
	`received_at` integer NOT NULL,
	`size` integer NOT NULL,
	`stored_bytes` integer NOT NULL,
	`envelope` text NOT NULL,
	`username` text NOT NULL,
	`email_id` text,
	`parse_error` text,
	`message_id` text DEFAULT '' NOT NULL,
	`subject` text DEFAULT '' NOT NULL,
	`addresses` text DEFAULT '{}' NOT NULL,
	`date` text,
	`snippet` text DEFAULT '' NOT NULL,
	`attachments` integer DEFAULT 0 NOT NULL,
	`inlines` integer DEFAULT 0 NOT NULL,
	`is_read` integer DEFAULT false NOT NULL,
	`is_pinned` integer DEFAULT false NOT NULL,
	`tags` text DEFAULT '[]' NOT NULL,
	FOREIGN KEY (`inbox_seq`) REFERENCES `inboxes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `inbox_messages_id_unique` ON `inbox_messages` (`id`);--> statement-breakpoint
CREATE INDEX `inbox_messages_page` ON `inbox_messages` (`inbox_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `inbox_messages_unread` ON `inbox_messages` (`inbox_seq`,`is_read`);--> statement-breakpoint
CREATE INDEX `inbox_messages_age` ON `inbox_messages` (`received_at`);--> statement-breakpoint
CREATE INDEX `inbox_messages_state` ON `inbox_messages` (`state`,`seq`);--> statement-breakpoint
CREATE INDEX `inbox_messages_email` ON `inbox_messages` (`email_id`) WHERE email_id IS NOT NULL;--> statement-breakpoint
CREATE INDEX `inbox_messages_tags` ON `inbox_messages` (`inbox_seq`,`tags`) WHERE "inbox_messages"."tags" <> '[]';--> statement-breakpoint
CREATE TABLE `inbox_parts` (
	`message_seq` integer NOT NULL,
	`part_id` text NOT NULL,
	`is_inline` integer NOT NULL,
	`filename` text NOT NULL,
	`content_type` text NOT NULL,
	`content_id` text NOT NULL,
	`size` integer NOT NULL,
	`md5` text NOT NULL,
	`sha1` text NOT NULL,
	`sha256` text NOT NULL,
	PRIMARY KEY(`message_seq`, `part_id`),
	FOREIGN KEY (`message_seq`) REFERENCES `inbox_messages`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `inbox_raw` (
	`message_seq` integer NOT NULL,
	`position` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`message_seq`, `position`),
	FOREIGN KEY (`message_seq`) REFERENCES `inbox_messages`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `inbox_rules` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`inbox_seq` integer NOT NULL,
	`stage` text NOT NULL,
	`rule` text NOT NULL,
	`remaining` integer,
	`fired` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`inbox_seq`) REFERENCES `inboxes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `inbox_rules_id_unique` ON `inbox_rules` (`id`);--> statement-breakpoint
CREATE INDEX `inbox_rules_of_inbox` ON `inbox_rules` (`inbox_seq`,`seq`);--> statement-breakpoint
CREATE TABLE `inbox_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`inbox_seq` integer NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	`peer` text NOT NULL,
	`transcript` text NOT NULL,
	FOREIGN KEY (`inbox_seq`) REFERENCES `inboxes`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `inbox_sessions_page` ON `inbox_sessions` (`inbox_seq`,`started_at`);--> statement-breakpoint
CREATE TABLE `inbox_texts` (
	`message_seq` integer PRIMARY KEY NOT NULL,
	`is_long` integer NOT NULL,
	`signature` blob,
	`sender` text NOT NULL,
	`recipients` text NOT NULL,
	`cc` text NOT NULL,
	`bcc` text NOT NULL,
	`reply_to` text NOT NULL,
	`subject` text NOT NULL,
	`message_id` text NOT NULL,
	`text` text NOT NULL,
	`rest` blob,
	FOREIGN KEY (`message_seq`) REFERENCES `inbox_messages`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `inbox_texts_long` ON `inbox_texts` (`message_seq`) WHERE "inbox_texts"."is_long" = 1;--> statement-breakpoint
CREATE TABLE `inboxes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`expires_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `inboxes_id_unique` ON `inboxes` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `inboxes_name` ON `inboxes` (`project_seq`,`name`);--> statement-breakpoint
CREATE INDEX `inboxes_expiry` ON `inboxes` (`expires_at`);--> statement-breakpoint
-- The trigrams of the searched texts. detail=none keeps the index small: it names the messages that
-- contain all trigrams of a term, and the search then compares the texts.
CREATE VIRTUAL TABLE `inbox_search` USING fts5(
	text, content='inbox_texts', content_rowid='message_seq', tokenize='trigram', detail=none
);--> statement-breakpoint
CREATE TRIGGER `inbox_search_in` AFTER INSERT ON `inbox_texts` BEGIN
	INSERT INTO inbox_search (rowid, text) VALUES (new.message_seq, new.text);
END;--> statement-breakpoint
CREATE TRIGGER `inbox_search_out` AFTER DELETE ON `inbox_texts` BEGIN
	INSERT INTO inbox_search (inbox_search, rowid, text) VALUES ('delete', old.message_seq, old.text);
END;
