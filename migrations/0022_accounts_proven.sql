ALTER TABLE `user_tokens` ADD `is_mailed` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `unproven_project_seq` integer REFERENCES projects(seq);--> statement-breakpoint
CREATE INDEX `users_unproven` ON `users` (`unproven_project_seq`);