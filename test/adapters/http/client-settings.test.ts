import { expect, test } from "vitest";
import { checkedBaseURL, checkedUserAgent } from "../../../src/adapters/http/client-settings.ts";
import { ConfigError } from "../../../src/model/errors.ts";

const secret = "0123456789abcdef";
const check = (text: string): string => checkedBaseURL(text, "Somecloud", "https://api.some.example/v1");

test.for([
  ["https://api.some.example", "https://api.some.example"],
  ["https://api.some.example/v1//", "https://api.some.example/v1"],
  ["http://127.0.0.1:8080/a/b/", "http://127.0.0.1:8080/a/b"],
] as const)("%s becomes %s", ([text, url]) => {
  expect(check(text)).toBe(url);
});

test.for(["api.some.example", "ftp://api.some.example", ""])("%j is refused, since it is no http(s) URL", (text) => {
  expect(() => check(text)).toThrow(ConfigError);
  expect(() => check(text)).toThrow(
    "The Somecloud API URL is not an http or https URL; expected one like https://api.some.example/v1.",
  );
});

test.for([
  `https://user:${secret}@api.other.example`,
  `https://${secret}@api.other.example`,
  `https://api.other.example?token=${secret}`,
  `https://api.other.example#${secret}`,
])("%s is refused with a text that does not repeat the secret", (text) => {
  expect(() => check(text)).toThrow(ConfigError);
  expect(() => check(text)).toThrow(
    "The Somecloud API URL for api.other.example must have no user, password, query or fragment; expected one like https://api.some.example/v1.",
  );
});

test.for(["flipop/0", "my tool (ops@example.com) é", ""])("the user agent %j can be sent", (text) => {
  expect(checkedUserAgent(text, "Somecloud")).toBe(text);
});

test.for(["a\nb", "a\r\nX-Other: 1", "a\u0000", "…"])(
  "the user agent %j is refused before anything is sent, not told as an API that cannot be reached",
  (text) => {
    expect(() => checkedUserAgent(text, "Somecloud")).toThrow(ConfigError);
    expect(() => checkedUserAgent(text, "Somecloud")).toThrow(
      "The user agent for Somecloud has a character that no header may have, such as a line end. Correct the …_USER_AGENT variable, or unset it.",
    );
  },
);
