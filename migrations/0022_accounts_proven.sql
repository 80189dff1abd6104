ALTER TABLE `user_tokens` ADD `is_mailed` integer DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `unproven_project_seq` integer REFERENCES projects(seq);