CREATE TABLE `passkeys` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`user_seq` integer NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` blob NOT NULL,
	`counter` integer NOT NULL,
	`transports` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_seq`) REFERENCES `users`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_id_unique` ON `passkeys` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential_id_unique` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_user` ON `passkeys` (`user_seq`,`seq`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_seq` integer NOT NULL,
	`digest` text NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`user_seq`) REFERENCES `users`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `recovery_codes_user` ON `recovery_codes` (`user_seq`,`digest`);--> statement-breakpoint
CREATE TABLE `totp_secrets` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`user_seq` integer NOT NULL,
	`secret` blob NOT NULL,
	`confirmed_at` integer,
	`last_step` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_seq`) REFERENCES `users`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `totp_secrets_user_seq_unique` ON `totp_secrets` (`user_seq`);--> statement-breakpoint
ALTER TABLE `audit` ADD `actor_name` text;--> statement-breakpoint
ALTER TABLE `audit` ADD `project_name` text;--> statement-breakpoint
ALTER TABLE `user_sessions` ADD `step` text;--> statement-breakpoint
ALTER TABLE `users` ADD `last_sign_in_at` integer;