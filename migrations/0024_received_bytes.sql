ALTER TABLE `project_usage` ADD `received_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP TRIGGER `usage_of_events_data`;--> statement-breakpoint
DROP TRIGGER `usage_of_events_name`;--> statement-breakpoint
DROP TRIGGER `usage_of_events_out`;--> statement-breakpoint
DROP TRIGGER `usage_of_received_mails_content`;--> statement-breakpoint
DROP TRIGGER `usage_of_received_mails_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_received_mails_out`;--> statement-breakpoint
DROP TRIGGER `usage_of_received_pieces_bytes`;--> statement-breakpoint
DROP TRIGGER `usage_of_received_pieces_cascade`;--> statement-breakpoint
DROP TRIGGER `usage_of_received_pieces_in`;--> statement-breakpoint
DROP TRIGGER `usage_of_received_pieces_out`;--> statement-breakpoint
CREATE TRIGGER `usage_of_events_data` AFTER UPDATE OF data ON events WHEN coalesce(octet_length(new.data), 0) <> coalesce(octet_length(old.data), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.data), 0) - coalesce(octet_length(old.data), 0), received_bytes = received_bytes + iif(new.name = 'email.received', coalesce(octet_length(new.data), 0), 0) - iif(old.name = 'email.received', coalesce(octet_length(old.data), 0), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_events_name` AFTER UPDATE OF name ON events WHEN 2 * coalesce(octet_length(new.name), 0) <> 2 * coalesce(octet_length(old.name), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + 2 * coalesce(octet_length(new.name), 0) - 2 * coalesce(octet_length(old.name), 0), received_bytes = received_bytes + iif(new.name = 'email.received', 2 * coalesce(octet_length(new.name), 0), 0) - iif(old.name = 'email.received', 2 * coalesce(octet_length(old.name), 0), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_events_out` AFTER DELETE ON events BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (170 + 2 * coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.data), 0)), received_bytes = received_bytes - (iif(old.name = 'email.received', 170 + 2 * coalesce(octet_length(old.name), 0) + coalesce(octet_length(old.data), 0), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_mails_content` AFTER UPDATE OF content ON received_mails WHEN coalesce(octet_length(new.content), 0) <> coalesce(octet_length(old.content), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.content), 0) - coalesce(octet_length(old.content), 0), received_bytes = received_bytes + coalesce(octet_length(new.content), 0) - coalesce(octet_length(old.content), 0) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_mails_in` AFTER INSERT ON received_mails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (200 + coalesce(octet_length(new.content), 0)), received_bytes = received_bytes + (200 + coalesce(octet_length(new.content), 0)) WHERE project_seq = new.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_mails_out` AFTER DELETE ON received_mails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (200 + coalesce(octet_length(old.content), 0)), received_bytes = received_bytes - (200 + coalesce(octet_length(old.content), 0)) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_bytes` AFTER UPDATE OF bytes ON received_pieces WHEN coalesce(octet_length(new.bytes), 0) <> coalesce(octet_length(old.bytes), 0) BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + coalesce(octet_length(new.bytes), 0) - coalesce(octet_length(old.bytes), 0), received_bytes = received_bytes + coalesce(octet_length(new.bytes), 0) - coalesce(octet_length(old.bytes), 0) WHERE project_seq = (SELECT project_seq FROM received_mails WHERE seq = new.mail_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_cascade` BEFORE DELETE ON received_mails BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (SELECT coalesce(sum(20 + coalesce(octet_length(r.bytes), 0)), 0) FROM received_pieces r WHERE r.mail_seq = old.seq), received_bytes = received_bytes - (SELECT coalesce(sum(20 + coalesce(octet_length(r.bytes), 0)), 0) FROM received_pieces r WHERE r.mail_seq = old.seq) WHERE project_seq = old.project_seq;
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_in` AFTER INSERT ON received_pieces BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes + (20 + coalesce(octet_length(new.bytes), 0)), received_bytes = received_bytes + (20 + coalesce(octet_length(new.bytes), 0)) WHERE project_seq = (SELECT project_seq FROM received_mails WHERE seq = new.mail_seq);
END;--> statement-breakpoint
CREATE TRIGGER `usage_of_received_pieces_out` AFTER DELETE ON received_pieces BEGIN
	UPDATE project_usage SET stored_bytes = stored_bytes - (20 + coalesce(octet_length(old.bytes), 0)), received_bytes = received_bytes - (20 + coalesce(octet_length(old.bytes), 0)) WHERE project_seq = (SELECT project_seq FROM received_mails WHERE seq = old.mail_seq);
END;--> statement-breakpoint
UPDATE project_usage SET received_bytes = (SELECT coalesce(sum(200 + coalesce(octet_length(r.content), 0)), 0) FROM received_mails r WHERE r.project_seq = project_usage.project_seq)
	+ (SELECT coalesce(sum(20 + coalesce(octet_length(r.bytes), 0)), 0) FROM received_mails m JOIN received_pieces r ON r.mail_seq = m.seq WHERE m.project_seq = project_usage.project_seq)
	+ (SELECT coalesce(sum(170 + 2 * coalesce(octet_length(r.name), 0) + coalesce(octet_length(r.data), 0)), 0) FROM events r WHERE r.project_seq = project_usage.project_seq AND r.name = 'email.received');
