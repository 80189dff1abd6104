/**
 * Common passwords of at least ten characters, in lower case. Shorter ones are refused because of
 * their length.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  1234567890 0123456789 0987654321 9876543210 12345678910 123456789a a123456789 123456789q
  q123456789 1q2w3e4r5t 1qaz2wsx3edc 1q2w3e4r5t6y q1w2e3r4t5 q1w2e3r4t5y6 1qazxsw23edc zaq12wsxcde3
  qwertyuiop qwertyuiop123 qwerty1234 qwerty12345 qwerty123456 qwertyuiop1 1234qwerasdf qwerasdfzxcv
  qwertyasdf asdfghjkl1 asdfghjkl123 asdfasdfasdf zxcvbnm123 zxcvbnm1234 asdfqwer1234 abcdefghij
  abcdefghijk abcd123456 abc1234567 abc123456789 a1b2c3d4e5 aa12345678 1111111111 0000000000
  1212121212 1234512345 1122334455 123123123123 123321123321 112233445566 5555555555 6666666666
  7777777777 8888888888 9999999999 aaaaaaaaaa password12 password123 password1234 password12345
  password123! password2024 password2025 password2026 password01! mypassword mypassword1 passwordpassword
  passw0rd123 p@ssw0rd123 p@ssword123 p@ssw0rd1234 pa$$word123 passwort123 motdepasse motdepasse1
  contrasena contraseña wachtwoord wachtwoord1 changeme123 changemenow changeme1234 letmein123
  letmein1234 welcome123 welcome1234 welcome12345 welcome2024 welcome2025 welcome2026 iloveyou12
  iloveyou123 iloveyou1234 iloveyou2 loveyou123 administrator administrator1 admin12345 admin123456
  admin1234567 adminadmin adminadmin1 adminpassword rootpassword root123456 toor123456 superuser1
  superman123 batman1234 football12 football123 baseball12 baseball123 basketball basketball1
  princess12 princess123 sunshine12 sunshine123 monkey1234 dragon1234 michael123 charlie123 jennifer12
  computer12 computer123 internet12 internet123 starwars12 starwars123 pokemon123 minecraft1
  minecraft123 test123456 test1234567 testtesttest testpassword secret1234 secretpassword mailstead1
  mailstead12 mailstead123 mailpassword trustno1trustno1 whatever12 whatever123 liverpool1
  liverpool123 manchester manchester1 barcelona1 realmadrid christopher elizabeth1 alexander1
  `
    .split(/\s+/)
    .filter((word) => word !== ""),
);
