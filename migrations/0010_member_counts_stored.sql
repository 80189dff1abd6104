ALTER TABLE `segments` ADD `member_count` integer;--> statement-breakpoint
ALTER TABLE `segments` ADD `member_counted_at` integer;