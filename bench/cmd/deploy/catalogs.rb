# frozen_string_literal: true

# Compiles catalogs as masters do. The arguments are codedirs, one for each master. For each line of
# input it prints a JSON array with the message of the resource 'release' in each catalog, or the
# error. It uses Puppetserver if installed, otherwise Puppet in this process. The first line of
# output says which.

acceptance = File.expand_path('../../../puppet/bindc/acceptance', __dir__)
require 'tmpdir'
require "#{acceptance}/puppetserver"
require "#{acceptance}/mri"

def message(master)
  catalog = master.catalog('web1.example.org', { 'fqdn' => 'web1.example.org' })
  catalog['resources'].find { |resource| resource['type'] == 'Notify' }['parameters']['message']
rescue Puppetserver::Refused, Mri::Refused => e
  e.message
end

$stdout.sync = true
Dir.mktmpdir('bindc-masters') do |dir|
  server = !Puppetserver::JARS.empty?
  masters = ARGV.each_with_index.map do |codedir, i|
    server ? Puppetserver.new("#{dir}/#{i}", codedir, instances: 1) : Mri.new("#{dir}/#{i}", codedir)
  end
  begin
    masters.map { |master| Thread.new { master.start } }.each(&:value) if server
    puts server ? 'puppetserver' : 'puppet'
    $stdin.each_line { puts JSON.generate(masters.map { |master| message(master) }) }
  ensure
    masters.each(&:stop)
  end
end
