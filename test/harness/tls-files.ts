/** A certificate for localhost and its key, which sign nothing but this test, as files. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgkY2k29mSuGQgSQ3o
NApmgYhyXSeMM+MyzTl3uQBAAQChRANCAARRR6Y2thx5O9VV6r8UW41rGI7AAPsL
HQX25zZHa9DLD586X3A7/2MEuZordhKdlWco7sVPb2yaMXew0fBvfkDD
-----END PRIVATE KEY-----
`;

export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUbTNAMlEM2GKdhoVa3KdLRPgBjZgwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzA1MjcwOFoYDzIxMjYxMDMw
MDUyNzA4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARRR6Y2thx5O9VV6r8UW41rGI7AAPsLHQX25zZHa9DLD586X3A7/2ME
uZordhKdlWco7sVPb2yaMXew0fBvfkDDo28wbTAdBgNVHQ4EFgQUmjiFOHVsCJo0
ilj2vbbjukiJgl8wHwYDVR0jBBgwFoAUmjiFOHVsCJo0ilj2vbbjukiJgl8wDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhALAeJ9i4xmJJiz9aG/usMepM8QZpqCEF33vh2wS5vLdSAiAn
SRuWrQDiv6MNZxPxN3xELGJvZElJtUssQRJiTVMd2w==
-----END CERTIFICATE-----
`;

export function tlsFiles(folder: string): { readonly cert: string; readonly key: string } {
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(files.cert, CERTIFICATE);
  writeFileSync(files.key, KEY);
  return files;
}
