# Generates rich.yaml with Puppet's results of convert_to for the types Timestamp, Timespan, SemVer
# and URI, as printed by 'puppet lookup --render-as json'.
#
#   apt-get install puppet-agent    # Debian 12: Puppet 7.23 with Ruby 3.1
#   ruby generate_rich.rb           # COUNT=20000 FILE=/tmp/many.yaml for more random cases
#
# A table has one case per line. A result is {value: V} or {error: convert}. The random cases come
# from one seed.
require 'json'
require 'puppet'
require 'puppet_pal'

RANDOM = Random.new((ENV['SEED'] || 7).to_i)

def pick(*list)
  list[RANDOM.rand(list.size)]
end

def chance(percent)
  RANDOM.rand(100) < percent
end

TIMES = {
  'Timestamp' => [
    '2024-01-05T10:11:12', '2024-01-05 10:11:12', '2024-01-05', '2024-01-05T10:11:12.5', '2024-01-05 10:11:12.123456789 UTC',
    '2024-01-05T10:11:12 CET', '2024-01-05T10:11:12 +01:30', '2024-01-05 EST', '2024-01-05T10:11:12 Eastern Daylight Time',
    '2024-01-05T10:11:12 Pacific  Standard   time', '2024-01-05T10:11:12 cet dst', '2024-01-05T10:11:12 GMT+3', '2024-01-05T10:11:12 +5.75',
    '2024-01-05T10:11:12 -0330', '2024-01-05T10:11:12 +1', '2024-01-05T10:11:12 Europe/Berlin', '2024-01-05T10:11:12 Mars', '2024-01-05T24:00:00',
    '2024-01-05T24:00:01', '2024-01-05T23:59:60', '2023-02-30', '2024-02-31', '2024-13-01', '2024-00-01', '2024-01-32', '2024-1-5', '24-1-5',
    '-0044-03-15', '12024-01-05', '0000-01-01', '2024-01', '2024', 'yesterday', '', ' ', '2024-01-05T10:11:12.1234567891', '2024-01-05T10:11:12.', '2024-01-05 ',
    ' 2024-01-05', '2024-01-05T10:11:12Z', '2024-01-05T10:11:12 Z', '2024-01-05T10:60:12', '2024-01-05T10:11:61', '2024-01-05T10:11:12.-5',
    '2024-01-05T10:11:12.-0', 0, 1, -1, 1_700_000_000, 253_402_300_800, -62_167_219_201, 1.5, -1.5, 0.1, 1e-10, 1.7e9, true, nil, [], ['2024-01-05'], {},
    { 'string' => '2024-01-05' }, { 'string' => '05.01.2024', 'format' => '%d.%m.%Y' }, { 'string' => '2024-01-05', 'timezone' => 'CET' },
    { 'string' => '05.01.2024 10h', 'format' => ['%F', '%d.%m.%Y %Hh'], 'timezone' => '-08:00' }, { 'string' => '2024-01-05', 'zone' => 'CET' },
    { 'string' => '' }, { 'string' => 1 }, { 'format' => '%F' }
  ],
  'Timespan' => [
    '1-02:03:04.5', '02:03:04.5', '03:04.5', '4.5', '1-02:03:04', '02:03:04', '1-02:03', '4', '100', '26:03:04', '70:04.25', '-1-02:03:04', '-5',
    '0', '0.000000050', '0.5000', '0.123456789', '0.1234567890', '1-2:3:4', '1-25:03:04', '1-02:03:99', 'x', '', ' 4', '4 ', '--4', '1e3', '٣',
    '99999999999999999999', 0, 1, -1, 90_061, 86_400, 9_223_372_036_854_775_807, -9_223_372_036_854_775_808, 1.5, -1.5, 0.1, 1e-9, 1e-10, 1e20, true, nil, [],
    ['1'], {}, { 'days' => 1 }, { 'hours' => 25, 'minutes' => 61 }, { 'negative' => true, 'days' => 1, 'nanoseconds' => 5 }, { 'days' => -1 },
    { 'negative' => true, 'days' => -1, 'milliseconds' => 1500, 'microseconds' => 7 }, { 'days' => 1.5 }, { 'weeks' => 1 }, { 'string' => '4' },
    { 'string' => '4h', 'format' => '%Hh' }, { 'string' => '4', 'days' => 1 }, { 'string' => '', 'format' => '%H' }, { 'negative' => 'yes' }
  ]
}.freeze

ARGUMENTS = [
  ['Timestamp', '2024-01-05T10:11:12', '%FT%T'], ['Timestamp', '2024-01-05', '%Y-%m-%d'], ['Timestamp', '5/1/24', '%d/%m/%y'], ['Timestamp', '5/1/70', '%d/%m/%y'],
  ['Timestamp', 'Fri Jan  5 10:11:12 2024', '%c'], ['Timestamp', 'Fri Jan  5 10:11:12 CET 2024', '%+'], ['Timestamp', '20240105101112', '%Y%m%d%H%M%S'],
  ['Timestamp', '01/05/24 03:04 PM', '%D %I:%M %p'], ['Timestamp', '01/05/24 12:04 a.m.', '%x %I:%M %P'], ['Timestamp', '2024 100', '%Y %j'],
  ['Timestamp', '1700000000', '%s'], ['Timestamp', '1700000000123', '%Q'], ['Timestamp', ' 5-Jan-2024', '%v'], ['Timestamp', '2024-W01-5', '%G-W%V-%u'],
  ['Timestamp', '2024-01-05 10:11', '%F %R'], ['Timestamp', '20 24-01', '%C %y-%m'], ['Timestamp', '100%2024', '100%%%Y'], ['Timestamp', '2024 %K', '%Y %K'],
  ['Timestamp', '2024-01-05 +01:00', '%F %:z'], ['Timestamp', '2024-01-05 %:y', '%F %:y'], ['Timestamp', '2024-01-05', '%EY-%Om-%Od'], ['Timestamp', '2024%Ed', '%Y%Ed'],
  ['Timestamp', '2024-01-05 123', '%F %L'], ['Timestamp', '2024-01-05', 'x'], ['Timestamp', '2024-01-05', ''], ['Timestamp', '2024-01-05', []],
  ['Timestamp', '2024-01-05', ['%d.%m.%Y', '%F']], ['Timestamp', '05.01.2024', ['%d.%m.%Y', '%F']], ['Timestamp', '5', ['%d.%m.%Y', '%F']], ['Timestamp', '2024-01-05', '%F', 'CET'],
  ['Timestamp', '2024-01-05 UTC', '%F %Z', 'CET'], ['Timestamp', '2024-01-05 UTC', ['%F %Z', '%F'], 'CET'], ['Timestamp', '2024-01-05', '%F', '+01:00'],
  ['Timestamp', '2024-01-05', '%F', 'nowhere'], ['Timestamp', '2024-01-05', '%F', ''], ['Timestamp', '2024-01-05', '%F', 1], ['Timestamp', '2024-01-05', '%F', 'UTC and more'],
  ['Timestamp', '2024-01-05', '%F', 'CET', 1], ['Timestamp', 1, '%F'], ['Timestamp', '2024-01-05', 1], ['Timestamp', '2024 tuesday JAN', '%Y %a %b'], ['Timestamp', '2024%', '%Y%'],
  ['Timespan', '26', '%H'], ['Timespan', '1d2h', '%Dd%Hh'], ['Timespan', '90 min', '%M min'], ['Timespan', '5ms', '%Lms'], ['Timespan', '1.5', '%S.%L'],
  ['Timespan', '1.000005', '%S.%6N'], ['Timespan', '3:  7', '%H:%_3M'], ['Timespan', '007', '%3S'], ['Timespan', '7', '%3S'], ['Timespan', '7', '%-3S'], ['Timespan', '100%', '%S%%'],
  ['Timespan', '5', '%Q'], ['Timespan', '5', '%'], ['Timespan', '5', ''], ['Timespan', '5', ['%H:%M', '%M']], ['Timespan', '5:6', ['%H:%M', '%M']], ['Timespan', 'x', ['%H:%M', '%M']],
  ['Timespan', '5', ['%M', '%Q']], ['Timespan', '5', ['%Q', '%M']], ['Timespan', '1', '%H', 2], ['Timespan', 1, 2, 3, 4], ['Timespan', 1, 2, 3, 4, 5, 6, 7],
  ['Timespan', 1, 2, 3], ['Timespan', 1, 2, 3, 4, 5, 6, 7, 8], ['Timespan', 1, 2, 3, 4.5], ['Timespan', -1, 2, 3, 4], ['Timespan', '1:2', '%M:%M'], ['Timespan', '1_2', '%M_%-S'],
  ['SemVer', 1, 2, 3], ['SemVer', 1, 2, 3, 'rc1'], ['SemVer', 1, 2, 3, 'rc.01', 'b.2'], ['SemVer', 1, 2], ['SemVer', 1, 2, -3], ['SemVer', 1, 2, 3, ''],
  ['SemVer', 1, 2, 3, 'a_b'], ['SemVer', 1, 2, 3, 'a', 'b', 'c'], ['SemVer', '1', 2, 3], ['SemVer', '1.2.3', 1], ['SemVer', 1, 2, 3.0], ['SemVer', 1, 2, 3, nil],
  ['URI', 'http://a', 'b'], ['Optional[Timestamp]', '2024-01-05'], ['Optional[Timestamp]', nil], ['Optional[ SemVer ]', 'x'], [' Timespan ', '5'],
  ['Optional[Timestamp]', nil, '%F'], ['Optional[Timespan]', '5', '%M']
].freeze

VERSIONS = ['1.2.3', '0.0.0', '1.2.3-rc1', '1.2.3-rc.1+build.5', '1.2.3+b', '1.2', '1', 'v1.2.3', '1.2.3.4', '01.2.3', '1.2.3-01', '1.2.3-0', '1.2.3-0a', '1.2.3-a..b',
            '1.2.3-', '1.2.3+', '1.2.3 ', " 1.2.3", "1.2.3\n", "1.2.3-a\n", "1.2.3\n\n", '99999999999999999999.0.0', '1.2.3+01', '1.2.3-a+01.b-c', 'x', '', '1.2.x', 1, 1.2, true,
            nil, [], [1, 2, 3], {}, { 'major' => 1, 'minor' => 2, 'patch' => 3 }, { 'major' => 1, 'minor' => 2, 'patch' => 3, 'prerelease' => 'rc1' },
            { 'major' => 1, 'minor' => 2, 'patch' => 3, 'build' => 'b.1' }, { 'major' => 1, 'minor' => 2 }, { 'major' => 1, 'minor' => 2, 'patch' => -3 },
            { 'major' => 1, 'minor' => 2, 'patch' => 3, 'other' => 1 }, { 'major' => '1', 'minor' => 2, 'patch' => 3 },
            { 'major' => 1, 'minor' => 2, 'patch' => 3, 'prerelease' => nil }].freeze

ADDRESSES = ['http://example.org', 'HTTP://Example.ORG:80/A?b=c#d', 'https://example.org:443', 'https://example.org:8443/', 'http://u:p@h/', 'http://@h/', 'http://u@h', 'http://u:@h',
             'http://h:/', 'http://h:0080/', 'http://h:00/', 'http:///path', 'http:/path', 'http:path', 'http:', 'http://', 'foo:///bar', 'foo://h:80', 'foo:bar?x#y', 'urn:isbn:1',
             'file:///etc/hosts', 'file://localhost/etc', 'file://u@h:1/x', 'file:/x', 'file:x', 'FILE:///X', 'ftp://h/a/b', 'ftp://h//a', 'ftp://h/%2Fa', 'ftp://h', 'ftp:a', 'ftp://h/a;type=i',
             'ftp://h:21/a', 'ldap://h/dc=x?cn?sub', 'ldap://h/x#f', 'ldaps://h:636/x', 'ldap:x', 'mailto:a@b.c', 'mailto:a@b.c?subject=x&', 'mailto:a', 'mailto:?subject=x', 'mailto:a@b,c@d', 'mailto://h',
             'mailto://h?x=1', 'mailto:a@b#f', 'mailto:a@b?x&&y', 'ws://h:80/x', 'wss://h:443/', 'puppet:///modules/x/y', 'puppet://server:8140/x', 'postgres:/x', 'jdbc:mysql://h/db',
             '/a/b', 'a/b', 'a:b', './a:b', '//h/p', '//[::1]/x', '//[::1/x', '?q', '#f', '', ' ', 'http://a b', 'http://ex_ample.org/', 'http://h/é', 'http://h/?q=é', 'http://h/?a b', "http://h/?a\tb\n",
             'http://h/?"<>`\'', 'http://h/?%zz', 'http://h/?%2', 'http://h/?%2x', 'http://h/%zz', 'http://h/%41', 'http://[::1]:80/', 'http://[1:2::3]/', 'http://[fe80::1%25eth0]/', 'http://[v1.a]/',
             'http://[::ffff:1.2.3.4]/', 'http://1.2.3.4:8080', 'http://h#a#b', 'http://h#a?b', 'http://h:99999/', 'http://h:x/', '1http://h', 'h-t+t.p://x', "http://h\n", 'http://h/{x}',
             'http://h/a|b', 'http://h/a\\b', 'http://h?', 'http://h#', 1, true, nil, [], ['http://h'], { 'scheme' => 'x', 'port' => -1 }, { 'nope' => 'x' }].freeze

PIECES = {
  'Timestamp' => [%w[%Y 2024 -5 2024 99999], %w[%m 1 02 12 13], %w[%d 1 02 31 0], %w[%e 7 31], %w[%H 0 09 24 25], %w[%I 12 11 0], %w[%M 5 59 60], %w[%S 0 59 60 61],
                  %w[%p am PM a.m. p.m x], %w[%y 0 68 69 99], %w[%C 19 20 7], %w[%b Jan february MA Xyz], %w[%a Mon sunday xx], %w[%N 5 123456789 1234567891 -5], %w[%L 5 123 1234],
                  %w[%Z UTC CET +01:00 -0830 +5.5 gmt+2 xyz est A z +12345678 +24:00 +1:60 +1.23456785 utc-1:2:3], ['%z', 'W. Europe Standard Time', 'cet dst', 'Tokyo daylight time', '+9'], %w[%F 2024-01-05 1-1-1],
                  %w[%T 10:11:12 1:2:3], %w[%j 5 366 367], %w[%s 5 -5], %w[%Q 5], %w[%G 2023], %w[%g 5 99], %w[%U 5 54], %w[%u 7 8], %w[%w 0 7], %w[%V 1 0], %w[%D 1/2/03], %w[%R 9:8], %w[%r 09:08:07\ PM],
                  ['%c', 'Mon Jan  2 03:04:05 2006'], ['%v', ' 2-Feb-1999'], ['%k', ' 3', '3', '13'], %w[%l 3 12], ['%n', '', ' ', "\n"], %w[%% %], %w[%Ey 7 70], %w[%OH 7], %w[%EH %EH 7], %w[%::z +01:02:03],
                  %w[%K %K K], %w[%X 1:2:3], %w[%x 1/2/03], [' ', '', ' ', "\t "], %w[- -], %w[T T t], %w[: :], %w[5 5], %w[x x]],
  'Timespan' => [%w[%D 1 12 a], %w[%H 2 23 99], %w[%M 3 59 100], %w[%S 4 04 61], %w[%L 5 005 1234], %w[%N 6 000000006 1234567891], %w[%-H 7 07], %w[%_M 8] << ' 8', %w[%3S 9 009], %w[%-4N 12 1234 12345],
                 ['%_5D', '    1', '12345', '1'], %w[%06N 000001 1], %w[%0L 1], %w[%% %], %w[- -], %w[: :], %w[. .], %w[x X], %w[%2x 1], %w[%-_H 1], %w[%_-H 1], %w[%5% %]]
}.freeze

# Returns a string that usually has the format.
def random_case(type)
  pieces = Array.new(RANDOM.rand(1..6)) { pick(*PIECES[type]) }
  pieces.unshift(%w[%Y 2024 1999], %w[- -]) if type == 'Timestamp' && chance(60)
  format = pieces.map(&:first).join
  text = pieces.map { |p| pick(*p[1..]) }.join
  text += pick(' ', 'x', '1') if chance(5)
  text = "-#{text}" if type == 'Timespan' && chance(10)
  arguments = [chance(10) ? [format, pick('%F', '%H', '%S')] : format]
  arguments << pick('CET', '+02:00', 'nope') if type == 'Timestamp' && chance(10)
  [type, text, *arguments]
end

ADDRESS_PIECES = [['http', 'ftp', 'file', 'mailto', 'ldap', 'foo', 'HTTPS', 'ws', '', '1x'], [':', ':', '', '//'], ['//', '//', '/', '', '///'], ['', '', 'u@', 'u:p@', ':@', '@', 'a@b'],
                  ['h', 'example.org', '1.2.3.4', '[::1]', '[1:2:3:4:5:6:7:8]', '[1::2.3.4.5]', '[:::1]', '', 'H_h', '%41', '256.1.1.1'], ['', '', ':80', ':21', ':', ':0443', ':x'],
                  ['', '/', '/a/b', '//x', '/%2Fx', '/%zz', 'a@b,c@d', '/;type=a', '/ '], ['', '', '?', '?a=b', '?a&', '?%zz', "?'\"", '?a?b'], ['', '', '#', '#f', '#f#', '#%41']].freeze

def random_address
  ADDRESS_PIECES.map { |p| pick(*p) }.join
end

def random_version
  Array.new(RANDOM.rand(3..9)) { pick('1', '0', '.', '.', '-', '+', 'a', '01', '1.2.3', '2.0.1', "\n") }.join
end

def cases
  count = (ENV['COUNT'] || 150).to_i
  TIMES.flat_map { |type, values| values.map { |v| [type, v] } } + VERSIONS.map { |v| ['SemVer', v] } + ADDRESSES.map { |v| ['URI', v] } + ARGUMENTS +
    Array.new(count) { random_case('Timestamp') } + Array.new(count / 2) { random_case('Timespan') } + Array.new(count / 2) { ['URI', random_address] } +
    Array.new(count / 3) { ['SemVer', random_version] }
end

def converted(invocation, type, value, arguments)
  convert_to = arguments.empty? ? type : [type, *arguments]
  { 'convert_to' => convert_to, 'of' => value }.merge(answer(invocation, Marshal.load(Marshal.dump([convert_to, value]))))
end

def answer(invocation, (convert_to, value))
  adapter = Puppet::Pops::Lookup::LookupAdapter.allocate
  result = adapter.convert_result('k', { 'convert_to' => convert_to }, invocation, -> { value })
  { 'value' => JSON.parse(Puppet::Network::FormatHandler.format(:json).render(result)) }
rescue Puppet::DataBinding::LookupError => e
  warn "#{convert_to} #{value.inspect}: #{e.message}" if ENV['VERBOSE']
  { 'error' => 'convert' }
end

# A lookup has a scope and reports its steps.
Invocation = Struct.new(:scope) do
  def report_text; end
end

Puppet.initialize_settings(['--vardir', '/tmp/puppet-table', '--confdir', '/tmp/puppet-table'])
Puppet::Util::Log.level = :crit
Puppet::Pal.in_tmp_environment('table', modulepath: [], facts: {}) do |pal|
  pal.with_catalog_compiler do |compiler|
    invocation = Invocation.new(compiler.send(:internal_compiler).topscope)
    lines = cases.map { |type, value, *arguments| "- #{JSON.generate(converted(invocation, type, value, arguments))}\n" }
    File.write(ENV['FILE'] || File.join(__dir__, 'rich.yaml'), lines.join)
  end
end
