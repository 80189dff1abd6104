ALTER TABLE `campaigns` ADD `imported_from` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `imported_id` text;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `imported_at` integer;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `imported_sent_at` integer;--> statement-breakpoint
ALTER TABLE `campaigns` ADD `imported_counts` text;--> statement-breakpoint
CREATE UNIQUE INDEX `campaigns_imported` ON `campaigns` (`project_seq`,`imported_from`,`imported_id`) WHERE imported_id IS NOT NULL;