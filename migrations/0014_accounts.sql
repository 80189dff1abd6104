CREATE TABLE `audit` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`at` integer NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`actor_label` text NOT NULL,
	`project_seq` integer,
	`action` text NOT NULL,
	`object_type` text NOT NULL,
	`object_id` text,
	`fields` text DEFAULT '[]' NOT NULL,
	`address` text,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `audit_id_unique` ON `audit` (`id`);--> statement-breakpoint
CREATE INDEX `audit_page` ON `audit` (`project_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_age` ON `audit` (`at`);--> statement-breakpoint
CREATE TABLE `memberships` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_seq` integer NOT NULL,
	`user_seq` integer NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`user_seq`) REFERENCES `users`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `memberships_user` ON `memberships` (`user_seq`,`project_seq`);--> statement-breakpoint
CREATE INDEX `memberships_page` ON `memberships` (`project_seq`,`seq`);--> statement-breakpoint
CREATE TABLE `system_mails` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`content` blob NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `system_mails_id_unique` ON `system_mails` (`id`);--> statement-breakpoint
CREATE INDEX `system_mails_due` ON `system_mails` (`next_at`);--> statement-breakpoint
CREATE TABLE `user_sessions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`digest` text NOT NULL,
	`user_seq` integer NOT NULL,
	`signed_in_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`confirmed_at` integer NOT NULL,
	`address` text NOT NULL,
	`user_agent` text NOT NULL,
	FOREIGN KEY (`user_seq`) REFERENCES `users`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `user_sessions_id_unique` ON `user_sessions` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `user_sessions_digest_unique` ON `user_sessions` (`digest`);--> statement-breakpoint
CREATE INDEX `user_sessions_user` ON `user_sessions` (`user_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `user_sessions_idle` ON `user_sessions` (`last_seen_at`);--> statement-breakpoint
CREATE TABLE `user_tokens` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`digest` text NOT NULL,
	`kind` text NOT NULL,
	`email` text,
	`user_seq` integer,
	`project_seq` integer,
	`role` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`user_seq`) REFERENCES `users`(`seq`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `user_tokens_id_unique` ON `user_tokens` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `user_tokens_digest_unique` ON `user_tokens` (`digest`);--> statement-breakpoint
CREATE INDEX `user_tokens_user` ON `user_tokens` (`user_seq`) WHERE user_seq IS NOT NULL AND used_at IS NULL;--> statement-breakpoint
CREATE INDEX `user_tokens_project` ON `user_tokens` (`project_seq`,`seq`) WHERE project_seq IS NOT NULL AND used_at IS NULL;--> statement-breakpoint
CREATE INDEX `user_tokens_setup` ON `user_tokens` (`seq`) WHERE kind = 'SETUP' AND used_at IS NULL;--> statement-breakpoint
CREATE INDEX `user_tokens_age` ON `user_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `users` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`email` text NOT NULL,
	`name` text NOT NULL,
	`password_digest` text,
	`is_owner` integer DEFAULT false NOT NULL,
	`disabled_at` integer,
	`preferences` text DEFAULT '{}' NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_id_unique` ON `users` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `users_email_unique` ON `users` (`email`);--> statement-breakpoint
CREATE INDEX `users_owners` ON `users` (`seq`) WHERE is_owner = 1;