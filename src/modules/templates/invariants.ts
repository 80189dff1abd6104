/** The rules that templates, their versions and the images of mails obey. */

import type { Invariant } from "../../db/invariant.ts";

export const TEMPLATE_INVARIANTS: readonly Invariant[] = [
  {
    name: "template-versions",
    rule: "The newest version of a template is what the template is.",
    violations: `
      SELECT 'template ' || t.id AS id,
             'revision ' || t.revision || ', newest version ' || coalesce(v.revision, 'none') AS finding
      FROM templates t
      LEFT JOIN template_versions v ON v.template_seq = t.seq AND v.revision =
        (SELECT max(revision) FROM template_versions WHERE template_seq = t.seq)
      WHERE v.revision IS NOT t.revision OR v.subject <> t.subject OR v.body <> t.body
         OR v.design IS NOT t.design`,
  },
  {
    name: "template-layouts",
    rule: "The layout of a template belongs to its project.",
    violations: `
      SELECT 'template ' || t.id AS id, 'its layout belongs to another project' AS finding
      FROM templates t JOIN layouts l ON l.seq = t.layout_seq
      WHERE l.project_seq <> t.project_seq`,
  },
  {
    name: "template-designs",
    rule: "A VISUAL template has a design.",
    violations: `
      SELECT 'template ' || id AS id, 'VISUAL without a design' AS finding
      FROM templates WHERE format = 'VISUAL' AND design IS NULL`,
  },
  {
    name: "image-contents",
    rule: "An image has as many bytes as it says.",
    violations: `
      SELECT 'image ' || i.id AS id,
             'it says ' || i.size_bytes || ' bytes, and has ' ||
             coalesce(octet_length(c.bytes), 'none') AS finding
      FROM images i LEFT JOIN image_contents c ON c.image_seq = i.seq
      WHERE octet_length(c.bytes) IS NOT i.size_bytes`,
  },
];
