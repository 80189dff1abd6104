DROP INDEX `user_tokens_user`;--> statement-breakpoint
CREATE INDEX `user_tokens_user` ON `user_tokens` (`user_seq`) WHERE user_seq IS NOT NULL;