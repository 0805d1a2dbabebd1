# Prints for each file named on standard input, one a line, what Psych loads from it as Puppet calls it: "error", or the
# value in the notation of canonical in psych_test.go. With the argument json, the files are JSON. tags.rb uses it too.
require 'json'
require 'psych'

def canonical(v)
  case v
  when nil then 'n'
  when true then 't'
  when false then 'f'
  when Integer then "i#{v};"
  when Float then v.nan? ? 'dnan;' : format('d%016x;', [v].pack('G').unpack1('Q>'))
  when Symbol then canonical(":#{v}")
  when String then "s#{v.bytesize}:#{v}"
  when Array then "[#{v.map { |e| canonical(e) }.join}]"
  when Hash then "{#{v.map { |k, e| canonical(k) + canonical(e) }.join}}"
  end
end

def loaded(text)
  canonical(Psych.safe_load(text, permitted_classes: [Symbol], aliases: true)) || 'error'
rescue StandardError, SystemStackError
  'error'
end

def loaded_json(text)
  canonical(JSON.parse(text)) || 'error'
rescue StandardError, SystemStackError
  'error'
end

if $PROGRAM_NAME == __FILE__
  $stdin.each_line(chomp: true) do |file|
    json = ARGV == ['json']
    text = File.read(file, encoding: json ? 'UTF-8' : 'bom|UTF-8')
    puts (json ? loaded_json(text) : loaded(text)).b.gsub('%'.b, '%25').gsub("\n".b, '%0A')
  end
end
