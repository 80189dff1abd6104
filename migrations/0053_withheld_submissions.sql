ALTER TABLE `form_days` ADD `withheld` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `forms` ADD `withheld` integer DEFAULT 0 NOT NULL;