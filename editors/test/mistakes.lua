-- Mistakes in a site: the files, the file to open, a part of the message, and how the mistake is mended: by a code
-- action with this title, or by a command of the editor.
local hiera2 = { ['hiera.yaml'] = 'version: 2' }
local function site(files)
  local out = {}
  for _, list in ipairs({ hiera2, files }) do
    for name, text in pairs(list) do
      out[name] = text
    end
  end
  return out
end
local function bindings(text)
  return { ['bindings/default.yaml'] = 'bindings_version: 1\nname: default\nbind:\n' .. text }
end

return {
  { name = 'misspelt attribute', open = 'bindings/default.yaml', message = "unknown attribute", action = "'name'",
    files = bindings('  - nmae: ntp::server\n    to: a.example.org') },
  { name = 'misspelt category', open = 'bindings/default.yaml', message = "no category 'osfamly'",
    action = "'osfamily'", files = bindings('  - when: {osfamly: Debian}\n    bind: [[ntp::server, a]]') },
  { name = 'misspelt key in a lookup', open = 'data/common.yaml', message = "looks up 'ntp::servr'",
    action = "'ntp::server'",
    files = site({ ['data/common.yaml'] = 'ntp::server: a\nmotd: "ask ${lookup(\'ntp::servr\')}"' }) },
  { name = 'misspelt fact', open = 'data/common.yaml', message = 'not a well-known fact', action = "'family'",
    files = site({ ['data/common.yaml'] = 'motd: "${facts[\'os\'][\'famly\']}"' }) },
  { name = 'misspelt function', open = 'data/common.yaml', message = "no function 'upcse'", action = "'upcase'",
    files = site({ ['data/common.yaml'] = 'motd: "${upcse($hostname)}"' }) },
  { name = 'misspelt type', open = 'bindings/default.yaml', message = "unknown type 'Sting'", action = "'String'",
    files = bindings('  - name: ntp::server\n    type: Sting\n    to: a') },
  { name = 'colon without a space', open = 'data/common.yaml', message = "expected a space after the ':'",
    action = "': '", files = site({ ['data/common.yaml'] = 'ntp::server: a\nmotd:more' }) },
  { name = 'tab for indentation', open = 'data/common.yaml', message = 'tab', type = '%s/\\t/  /',
    files = site({ ['data/common.yaml'] = 'ntp::server:\n\ta: 1' }) },
  { name = 'two values for one key', open = 'bindings/default.yaml', message = 'is bound twice', type = '5delete',
    files = bindings('  - [ntp::server, a]\n  - [ntp::server, b]') },
  { name = 'misspelt word in Puppet syntax', open = 'bindings/default.pp', message = 'expected a statement',
    action = "'bind'", files = { ['bindings/default.pp'] = "bindings default {\n  bnid 'ntp::server' to 'a'\n}" } },
  { name = 'misspelt key of the site in a module with a hiera.yaml', open = 'modules/ntp/data/common.yaml',
    message = "looks up 'site::domian'", action = "'site::domain'",
    files = { ['hiera.yaml'] = 'version: 5', ['data/common.yaml'] = 'site::domain: a',
      ['modules/ntp/hiera.yaml'] = 'version: 5', ['modules/ntp/data/common.yaml'] =
      'ntp::server: "%{lookup(\'site::domian\')}"' } },
}
