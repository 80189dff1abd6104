CREATE TABLE `installation_values` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
