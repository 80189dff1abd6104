DROP INDEX `domains_domain_unique`;--> statement-breakpoint
CREATE UNIQUE INDEX `domains_name` ON `domains` (`domain`,`project_seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `domains_verified` ON `domains` (`domain`) WHERE status = 'VERIFIED';--> statement-breakpoint
CREATE INDEX `user_tokens_invited` ON `user_tokens` (`email`,`created_at`) WHERE email IS NOT NULL;