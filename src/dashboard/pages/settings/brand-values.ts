/** The values of the branding form. */

export type BrandValues = { brandColor: string; logoImageId: string };

/** The form has empty texts for values that are not set. */
export const brandValues = (project: {
  brandColor: string | null;
  logoImageId: string | null;
}): BrandValues => ({
  brandColor: project.brandColor ?? "",
  logoImageId: project.logoImageId ?? "",
});
