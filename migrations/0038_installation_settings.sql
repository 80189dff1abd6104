CREATE TABLE `installation_settings` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text,
	`sealed` blob,
	`revision` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`updated_by` text
);
