/** The header Accept-Encoding (RFC 9110 §12.5.3). */

/** Whether the client accepts a content coding such as "br". `*` is not considered. */
export function acceptsEncoding(header: string, coding: string): boolean {
  return header.split(",").some((item) => {
    const [name = "", ...parameters] = item.split(";");
    const isRefused = parameters.some((parameter) => isZeroWeight(parameter.trim()));
    return name.trim().toLowerCase() === coding && !isRefused;
  });
}

/** `q=0`, `q=0.0`, `q=0.00` and `q=0.000` mean "not acceptable" (RFC 9110 §12.4.2). */
const isZeroWeight = (parameter: string) => /^q=0(?:\.0{0,3})?$/i.test(parameter);
