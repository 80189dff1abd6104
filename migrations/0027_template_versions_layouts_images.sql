CREATE TABLE `layouts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`name` text NOT NULL,
	`body` text NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `layouts_id_unique` ON `layouts` (`id`);--> statement-breakpoint
CREATE INDEX `layouts_page` ON `layouts` (`project_seq`,`seq`);--> statement-breakpoint
CREATE TABLE `template_versions` (
	`template_seq` integer NOT NULL,
	`revision` integer NOT NULL,
	`name` text NOT NULL,
	`description` text,
	`subject` text NOT NULL,
	`preheader` text,
	`format` text NOT NULL,
	`layout_id` text,
	`from_address` text,
	`from_name` text,
	`reply_to` text,
	`type` text NOT NULL,
	`changed` text NOT NULL,
	`author_kind` text,
	`author_id` text,
	`author_name` text,
	`is_kept` integer DEFAULT false NOT NULL,
	`started_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`body` text NOT NULL,
	`design` text,
	PRIMARY KEY(`template_seq`, `revision`),
	FOREIGN KEY (`template_seq`) REFERENCES `templates`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `images` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_seq` integer NOT NULL,
	`digest` text NOT NULL,
	`name` text NOT NULL,
	`format` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`size_bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_seq`) REFERENCES `projects`(`seq`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `image_contents` (
	`image_seq` integer PRIMARY KEY NOT NULL,
	`bytes` blob NOT NULL,
	FOREIGN KEY (`image_seq`) REFERENCES `images`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `images_id_unique` ON `images` (`id`);--> statement-breakpoint
CREATE INDEX `images_page` ON `images` (`project_seq`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `images_digest` ON `images` (`digest`,`project_seq`);--> statement-breakpoint
ALTER TABLE `templates` ADD `preheader` text;--> statement-breakpoint
ALTER TABLE `templates` ADD `design` text;--> statement-breakpoint
ALTER TABLE `templates` ADD `format` text DEFAULT 'CODE' NOT NULL;--> statement-breakpoint
ALTER TABLE `templates` ADD `layout_seq` integer REFERENCES layouts(seq);--> statement-breakpoint
ALTER TABLE `templates` ADD `revision` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX `templates_layout` ON `templates` (`layout_seq`) WHERE layout_seq IS NOT NULL;--> statement-breakpoint
DROP TRIGGER `usage_of_templates_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_templates_out`;--> statement-breakpoint
CREATE TRIGGER `usage_of_images_in` AFTER INSERT ON images BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (250 + new.size_bytes) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_images_out` AFTER DELETE ON images BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (250 + old.size_bytes) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_images_size_bytes` AFTER UPDATE OF size_bytes ON images WHEN new.size_bytes <> old.size_bytes BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + new.size_bytes - old.size_bytes WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_layouts_body` AFTER UPDATE OF body ON layouts WHEN coalesce(octet_length(new.body), 0) <> coalesce(octet_length(old.body), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.body), 0) - coalesce(octet_length(old.body), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_layouts_in` AFTER INSERT ON layouts BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.body), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_layouts_out` AFTER DELETE ON layouts BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.body), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_template_versions_body` AFTER UPDATE OF body ON template_versions WHEN coalesce(octet_length(new.body), 0) <> coalesce(octet_length(old.body), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.body), 0) - coalesce(octet_length(old.body), 0) WHERE project_seq = (SELECT project_seq FROM templates WHERE seq = new.template_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_template_versions_cascade` BEFORE DELETE ON templates BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(250 + coalesce(octet_length(r.subject), 0) + coalesce(octet_length(r.body), 0) + coalesce(octet_length(r.preheader), 0) + coalesce(octet_length(r.design), 0)), 0) FROM template_versions r WHERE r.template_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_template_versions_design` AFTER UPDATE OF design ON template_versions WHEN coalesce(octet_length(new.design), 0) <> coalesce(octet_length(old.design), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.design), 0) - coalesce(octet_length(old.design), 0) WHERE project_seq = (SELECT project_seq FROM templates WHERE seq = new.template_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_template_versions_in` AFTER INSERT ON template_versions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (250 + coalesce(octet_length(new.subject), 0) + coalesce(octet_length(new.body), 0) + coalesce(octet_length(new.preheader), 0) + coalesce(octet_length(new.design), 0)) WHERE project_seq = (SELECT project_seq FROM templates WHERE seq = new.template_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_template_versions_out` AFTER DELETE ON template_versions BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (250 + coalesce(octet_length(old.subject), 0) + coalesce(octet_length(old.body), 0) + coalesce(octet_length(old.preheader), 0) + coalesce(octet_length(old.design), 0)) WHERE project_seq = (SELECT project_seq FROM templates WHERE seq = old.template_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_template_versions_preheader` AFTER UPDATE OF preheader ON template_versions WHEN coalesce(octet_length(new.preheader), 0) <> coalesce(octet_length(old.preheader), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.preheader), 0) - coalesce(octet_length(old.preheader), 0) WHERE project_seq = (SELECT project_seq FROM templates WHERE seq = new.template_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_template_versions_subject` AFTER UPDATE OF subject ON template_versions WHEN coalesce(octet_length(new.subject), 0) <> coalesce(octet_length(old.subject), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.subject), 0) - coalesce(octet_length(old.subject), 0) WHERE project_seq = (SELECT project_seq FROM templates WHERE seq = new.template_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_design` AFTER UPDATE OF design ON templates WHEN coalesce(octet_length(new.design), 0) <> coalesce(octet_length(old.design), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.design), 0) - coalesce(octet_length(old.design), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_in` AFTER INSERT ON templates BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.subject), 0) + coalesce(octet_length(new.body), 0) + coalesce(octet_length(new.preheader), 0) + coalesce(octet_length(new.design), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_out` AFTER DELETE ON templates BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.subject), 0) + coalesce(octet_length(old.body), 0) + coalesce(octet_length(old.preheader), 0) + coalesce(octet_length(old.design), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_templates_preheader` AFTER UPDATE OF preheader ON templates WHEN coalesce(octet_length(new.preheader), 0) <> coalesce(octet_length(old.preheader), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.preheader), 0) - coalesce(octet_length(old.preheader), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
INSERT INTO template_versions (template_seq, revision, name, description, subject, body, format, from_address, from_name, reply_to, type, changed, started_at, created_at)
	SELECT seq, 1, name, description, subject, body, 'CODE', from_address, from_name, reply_to, type, '[]', updated_at, updated_at FROM templates;
