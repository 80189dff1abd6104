ALTER TABLE `consents` ADD `purpose` text DEFAULT 'MARKETING' NOT NULL;--> statement-breakpoint
ALTER TABLE `contacts` ADD `tracking` integer;